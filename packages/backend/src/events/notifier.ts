/** Follows commits while there are subscriptions, and sends subscribers what they have changed, in the order of commits. */
import type { Database } from 'pannier'
import { holdSnapshot } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Access } from '../access/access.ts'
import { RECORDS_PREFIX, type Definition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { DEFINITIONS_COLLECTION } from '../definitions/store.ts'
import type { Principal } from '../gateway/principal.ts'
import type { RecordReads } from '../records/record-reads.ts'
import { CommitStates, KEPT_MS, type CommitStep, type StepReader } from './commit-states.ts'
import { Cursors, isAfter, type Cursor, type MessagePosition } from './cursor.ts'
import { groupBinder } from './group-rules.ts'
import type { RecordChange } from './record-changes.ts'
import { RecordMessages, type LateEvent, type RecordEvent } from './record-messages.ts'
import { isSignalTopic, type SignalHost, type Signals } from './signals.ts'
import type { LateMessage, RealtimeMessage, Subscriber } from './subscriber.ts'
import { SubscriptionGroups } from './subscription-groups.ts'
import type { Topic } from './topic.ts'

export interface NotifierOptions {
  readonly database: Database
  readonly definitions: Definitions
  readonly access: Access
  readonly reads: Pick<RecordReads, 'snapshotOf' | 'findIn'>
  readonly makeSignals: (host: SignalHost) => Signals
  readonly environment: Environment
}

/** The subscribers, as the notifier asks them. */
interface NotifierHost {
  /** A step begins. */
  beforeStep(): void
  /** Whether subscribers are accounts of the collection: then all its changes come to `changed`. */
  watches(definition: Definition): boolean
  changed(change: RecordChange): void
  /** The deletes of the step are sent. Changes of accounts are for what comes now. */
  deletesSent(): void
  /** The subscriptions of a client have tried rows. */
  spent(subscriber: Subscriber, topic: Topic, rows: number): void
  /** The messages of a commit can't be sent. */
  failed(error: unknown): void
}

/** The parts that follow commits. */
interface Following {
  readonly states: CommitStates
  readonly reader: StepReader
}

/** A place to continue from. */
interface Continuation {
  readonly cursor: Cursor
  readonly reader: StepReader
}

/** The data of a signal: a pull brings what it is about. */
const SIGNAL = {}

/** The rows that a group may try for a change without being counted. */
const ROWS_FREE = 1000

export class Notifier {
  readonly #options: NotifierOptions
  readonly #host: NotifierHost
  readonly #messages: RecordMessages
  readonly #cursors: Cursors
  /** All subscriptions, but those to signals. */
  readonly groups: SubscriptionGroups
  readonly #signals: Signals
  #following: Following | undefined
  #cancelLetGo: (() => void) | undefined
  #isNotifying = false
  #notifying: Promise<void> = Promise.resolve()
  readonly #repeating = new Set<Promise<void>>()

  constructor(options: NotifierOptions, host: NotifierHost) {
    this.#options = options
    this.#host = host
    this.#cursors = new Cursors(options.environment)
    this.#messages = new RecordMessages(options)
    this.groups = new SubscriptionGroups(groupBinder(options.access))
    this.#signals = options.makeSignals({
      wake: () => this.#wake(),
      signal: (subscriber, { text }, sequence) => {
        const message = { topic: text, data: SIGNAL }
        subscriber.send(subscriber.canReturn ? { ...message, cursor: this.cursorAt(sequence) } : message)
      },
    })
  }

  /** Whether nobody is subscribed. */
  get isEmpty(): boolean {
    return this.groups.isEmpty && this.#signals.isEmpty
  }

  /** `after`: the number of the commit after which it gets messages. `was`: whose subscription it was until now. */
  join(subscriber: Subscriber, topic: Topic, after: number, was?: Principal): void {
    if (!isSignalTopic(topic)) {
      this.groups.join(subscriber, topic, after)
      return
    }
    this.#signals.join(subscriber, topic, after, was)
    if (this.#signals.isWaiting) this.#wake()
  }

  /** `principal`: whose subscription it was. Gives the commit after which it got messages; undefined if it did not. */
  leave(subscriber: Subscriber, topic: Topic, principal: Principal): number | undefined {
    return (isSignalTopic(topic) ? this.#signals : this.groups).leave(subscriber, topic, principal)
  }

  /** The number of the newest commit. What comes after it will be sent. */
  get newest(): number {
    return this.#follow().states.newest
  }

  /** A cursor behind a commit. */
  cursorAt(sequence: number): string {
    return this.#cursors.text({ sequence, within: undefined })
  }

  /** Undefined if not all is kept that came after the cursor. */
  continuation(text: string): Continuation | undefined {
    const cursor = this.#cursors.read(text)
    const reader = cursor && this.#follow().states.read(cursor.sequence, cursor.within !== undefined)
    return reader && { cursor: cursor!, reader }
  }

  /** Sends to one subscriber again what came after a place, up to a commit. What comes later waits. */
  repeat(subscriber: Subscriber, { cursor, reader }: Continuation, last: number): void {
    const groups = new SubscriptionGroups(groupBinder(this.#options.access))
    for (const topic of subscriber.topics.values()) groups.join(subscriber, topic, -1)
    const work = subscriber
      .hold(() => this.#repeatSteps(subscriber, groups, { cursor, reader }, last))
      .catch((error: unknown) => subscriber.cutOff(error))
      .finally(() => {
        reader.end()
        this.#repeating.delete(work)
      })
    this.#repeating.add(work)
  }

  /** Keeps what subscribers that can return may miss: while they are there, and for some time after that. */
  keepForReturn(areThere: boolean): void {
    if (this.#following !== undefined)
      this.#following.states.keptUntilMs = areThere ? Infinity : this.#options.environment.now() + KEPT_MS
  }

  /** Somebody has gone. While nobody is subscribed, commits are followed as long as somebody may return. */
  rest(): void {
    this.#signals.tidy()
    if (!this.isEmpty) return
    const { environment } = this.#options
    const keptMs = (this.#following?.states.keptUntilMs ?? 0) - environment.now()
    if (keptMs > 0) this.#cancelLetGo ??= environment.after(Math.min(keptMs, KEPT_MS), () => void this.#stop())
    else void this.#stop()
  }

  /** Closes it; resolves when nothing is sent any more. */
  async close(): Promise<void> {
    await this.#stop()
  }

  #follow(): Following {
    this.#cancelLetGo?.()
    this.#cancelLetGo = undefined
    if (this.#following !== undefined) return this.#following
    const { database, environment } = this.#options
    const isFollowed = (name: string): boolean => name.startsWith(RECORDS_PREFIX) || name === DEFINITIONS_COLLECTION
    const states = new CommitStates({ database, environment, isFollowed, onStep: () => this.#wake() })
    return (this.#following = { states, reader: states.read(states.newest)! })
  }

  async #stop(): Promise<void> {
    this.#cancelLetGo?.()
    this.#cancelLetGo = undefined
    const following = this.#following
    this.#following = undefined
    // What is being read must stay until then.
    await Promise.all([this.#notifying, ...this.#repeating])
    following?.states.close()
  }

  #wake(): void {
    if (this.#isNotifying) return
    this.#isNotifying = true
    this.#notifying = this.#notifyAll()
  }

  async #notifyAll(): Promise<void> {
    // The answers to those who have written come first.
    await this.#options.environment.yield()
    for (;;) {
      const following = this.#following
      const step = following?.reader.next()
      if (step === undefined && (following === undefined || !this.#signals.isWaiting)) {
        this.#isNotifying = false
        return
      }
      try {
        if (step === undefined) await this.#catchUp(following!)
        else await this.#notify(step)
      } catch (error) {
        this.#host.failed(error)
      }
    }
  }

  /** No step waits: the newest state is that after the last step. */
  async #catchUp({ states }: Following): Promise<void> {
    const state = holdSnapshot(this.#options.database)
    try {
      await this.#signals.catchUp(state, states.newest)
    } finally {
      state.end()
    }
  }

  async #notify(step: CommitStep): Promise<void> {
    this.#host.beforeStep()
    const { sequence } = step
    const cursorOf = this.#numbered(sequence)
    await this.#messages.notify(step, {
      groups: this.groups,
      watches: (definition) => this.#host.watches(definition),
      changed: (change) => this.#host.changed(change),
      deletesSent: () => this.#host.deletesSent(),
      spent: ({ topic, members }, rows) => {
        if (rows <= ROWS_FREE) return
        const share = rows / members.size
        for (const subscriber of members.keys()) this.#host.spent(subscriber, topic, share)
      },
      send: ({ topic, members }, event, place) => {
        const shared = messageOf(topic, event)
        for (const [subscriber, after] of members) {
          if (after >= sequence) continue
          if (!subscriber.canReturn) subscriber.send(shared)
          else subscriber.send(messageOf(topic, event, this.#cursors.text(cursorOf(subscriber, place))))
        }
      },
    })
    await this.#signals.notify(step)
  }

  async #repeatSteps(
    subscriber: Subscriber,
    groups: SubscriptionGroups,
    { cursor, reader }: Continuation,
    last: number,
  ): Promise<void> {
    for (let step = reader.next(); step !== undefined && step.sequence <= last; step = reader.next()) {
      if (subscriber.isGone) return
      const { sequence } = step
      const cursorOf = this.#numbered(sequence)
      await this.#messages.notify(step, {
        groups,
        watches: () => false,
        changed: () => {},
        deletesSent: () => {},
        spent: ({ topic }, rows) => this.#host.spent(subscriber, topic, rows),
        send: async ({ topic }, event, place) => {
          const at = cursorOf(subscriber, place)
          const isWanted = (): boolean => !subscriber.isGone && subscriber.topics.has(topic.text)
          if (!isWanted() || (sequence === cursor.sequence && !isAfter(at.within, cursor))) return
          // One after another: what is sent again may be much.
          const data = 'make' in event ? await event.make() : event
          if (data !== undefined && isWanted())
            subscriber.sendNow([{ topic: topic.text, data, cursor: this.#cursors.text(at) }])
        },
      })
    }
  }

  /** Numbers the messages of a step: each subscriber has a number of its own for each change. */
  #numbered(
    sequence: number,
  ): (subscriber: Subscriber, change: number) => Cursor & { readonly within: MessagePosition } {
    let counted = -1
    const counts = new Map<Subscriber, number>()
    return (subscriber, change) => {
      if (change !== counted) counts.clear()
      counted = change
      const message = counts.get(subscriber) ?? 0
      counts.set(subscriber, message + 1)
      return { sequence, within: { change, message } }
    }
  }
}

function messageOf(
  { text: topic }: Topic,
  event: RecordEvent | LateEvent,
  cursor?: string,
): RealtimeMessage | LateMessage {
  const asMessage = (data: RecordEvent): RealtimeMessage => ({ topic, data, ...(cursor !== undefined && { cursor }) })
  if (!('make' in event)) return asMessage(event)
  const make = async (): Promise<RealtimeMessage | undefined> => {
    const made = await event.make()
    return made && asMessage(made)
  }
  return { topic, bytes: () => event.bytes(), make }
}
