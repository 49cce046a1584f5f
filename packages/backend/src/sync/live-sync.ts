/**
 * Tells sessions that a pull of a collection would bring something: the topic `@sync/COLLECTION` of realtime. It follows the commits.
 * docs/internals/ruled-sync.md is the contract.
 */
import type { SnapshotReader } from 'pannier/internal'
import type { KnownDefinitions } from '../access/rule-records.ts'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { CommitStep } from '../events/commit-states.ts'
import { changesIn } from '../events/record-changes.ts'
import type { Subscriber } from '../events/subscriber.ts'
import type { Topic } from '../events/topic.ts'
import { Turns } from '../events/turns.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { holdingsIn } from './holdings-in.ts'
import { Reads, readsOf } from './noted-reads.ts'
import { rulesToSync, type SyncRules } from './sync-rules.ts'
import { assertSyncable } from './syncable.ts'
import { WatchedCollection } from './watched-collection.ts'
import { watchingOf, Watcher } from './watcher.ts'

interface LiveSyncHost {
  readonly definitions: KnownDefinitions
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Sends a signal, as of a commit. */
  signal(subscriber: Subscriber, topic: Topic, sequence: number): void
}

const TOPIC_PREFIX = '@sync/'

/** Whether a topic is for signals. */
export function isSyncTopic({ name }: Topic): boolean {
  return name.startsWith(TOPIC_PREFIX)
}

export class LiveSync {
  readonly #host: LiveSyncHost
  /** By the names of topics. */
  readonly #collections = new Map<string, WatchedCollection>()
  readonly #fresh = new Map<Watcher, WatchedCollection>()
  /** Watchers whose last session may have gone. */
  readonly #left = new Map<Watcher, WatchedCollection>()
  readonly #byRead = new Map<string, Map<Watcher, WatchedCollection>>()
  #schema: unknown

  constructor(host: LiveSyncHost) {
    this.#host = host
  }

  get isEmpty(): boolean {
    return this.#collections.size === 0
  }

  /** Whether watchers wait to be placed. */
  get isWaiting(): boolean {
    return this.#fresh.size > 0
  }

  /**
   * `after`: the number of the commit after which the session gets signals. `was`: whose session it was until now. Another account has
   * another replica, as when a token has ended.
   */
  join(subscriber: Subscriber, topic: Topic, after: number, was?: Principal): void {
    const watched = this.#collections.get(topic.name) ?? this.#watch(topic.name)
    const key = Watcher.keyOf(subscriber.principal)
    let watcher = watched.watchers.get(key)
    if (watcher === undefined) {
      watcher = new Watcher(subscriber.principal)
      watched.watchers.set(key, watcher)
      this.#fresh.set(watcher, watched)
    }
    watcher.sessions.set(sessionOf(subscriber, topic), { subscriber, topic, after })
    if (was !== undefined && Watcher.keyOf(was) !== key) this.#host.signal(subscriber, topic, after)
  }

  /** `principal`: whose session it was. Gives the commit after which it got signals; undefined if it did not. */
  leave(subscriber: Subscriber, topic: Topic, principal: Principal): number | undefined {
    const watched = this.#collections.get(topic.name)
    const watcher = watched?.watchers.get(Watcher.keyOf(principal))
    const session = watcher?.sessions.get(sessionOf(subscriber, topic))
    if (session === undefined) return undefined
    watcher!.sessions.delete(sessionOf(subscriber, topic))
    // It may join again at once, with another revision of the account.
    if (watcher!.sessions.size === 0) this.#left.set(watcher!, watched!)
    return session.after
  }

  /** Forgets watchers without sessions. */
  tidy(): void {
    for (const [watcher, watched] of this.#left) {
      if (watcher.sessions.size > 0) continue
      this.#unplace(watcher, watched)
      this.#fresh.delete(watcher)
      watched.watchers.delete(Watcher.keyOf(watcher.principal))
      if (watched.watchers.size === 0) this.#collections.delete(watched.name)
    }
    this.#left.clear()
  }

  /** Computes what new watchers hold. Steps that come later are those after this state. */
  async catchUp(state: SnapshotReader, sequence: number): Promise<void> {
    this.tidy()
    this.#followDefinitions(sequence)
    const turns = new Turns()
    for (const [watcher, watched] of this.#fresh) {
      this.#fresh.delete(watcher)
      await this.#place(watcher, watched, state)
      await turns.next()
    }
  }

  /** Signals what a step has changed for somebody. */
  async notify(step: CommitStep): Promise<void> {
    await this.catchUp(step.before, step.sequence)
    if (this.isEmpty) return
    const seeing = new Set<Watcher>()
    const stale = new Map<Watcher, WatchedCollection>()
    const turns = new Turns()
    for (const definition of this.#host.definitions.all()) {
      if (!step.collections.has(recordsName(definition))) continue
      const watched = [...this.#collections.values()].filter(({ synced }) => synced?.definition === definition)
      for await (const changes of changesIn(step, definition))
        for (const change of changes) {
          for (const read of readsOf(change))
            for (const [watcher, of] of this.#byRead.get(read) ?? []) stale.set(watcher, of)
          for (const each of watched) for (const record of change.records) each.findSeeing(record, seeing)
          await turns.next()
        }
    }
    for (const [watcher, watched] of stale) {
      const before = watcher.watching?.held.holdings
      await this.#place(watcher, watched, step.after)
      if (JSON.stringify(before) !== JSON.stringify(watcher.watching?.held.holdings)) seeing.add(watcher)
      await turns.next()
    }
    for (const watcher of seeing) this.#signal(watcher, step.sequence)
  }

  #watch(name: string): WatchedCollection {
    const watched = new WatchedCollection(name)
    this.#collections.set(name, watched)
    watched.synced = this.#syncedOf(name)
    return watched
  }

  #syncedOf(name: string): { readonly definition: Definition; readonly rules: SyncRules } | undefined {
    const { definitions } = this.#host
    const definition = definitions.find(name.slice(TOPIC_PREFIX.length))
    const rules = definition && allowed(() => rulesToSync(definitions, definition))
    return rules && { definition: definition!, rules }
  }

  /** Other rules are another replica. */
  #followDefinitions(sequence: number): void {
    const { schema } = this.#host.definitions
    if (schema === this.#schema) return
    this.#schema = schema
    for (const [name, watched] of this.#collections) {
      const before = watched.synced
      watched.synced = this.#syncedOf(name)
      const isSame =
        before?.rules.version === watched.synced?.rules.version &&
        before?.definition.id === watched.synced?.definition.id
      for (const watcher of watched.watchers.values()) {
        if (!isSame) this.#signal(watcher, sequence)
        this.#unplace(watcher, watched)
        this.#fresh.set(watcher, watched)
      }
    }
  }

  async #place(watcher: Watcher, watched: WatchedCollection, state: SnapshotReader): Promise<void> {
    const { synced } = watched
    const { principal, account } = watcher
    this.#unplace(watcher, watched)
    if (synced === undefined || !allowed(() => (assertSyncable(principal, synced.definition), true))) return
    const { definitions, now } = this.#host
    const rules = synced.rules.of(account?.[0] ?? null)
    const ms = now()
    let reads = new Reads()
    const held = await state.read((guard) => {
      reads = new Reads()
      return holdingsIn(guard, definitions, { rule: rules.rule, account, now: new Date(ms) }, (records) =>
        reads.of(records),
      )
    })
    // Its last session has gone meanwhile.
    if (watcher.sessions.size === 0) this.#left.set(watcher, watched)
    watched.place(watcher, watchingOf(rules, held, ms, reads.noted))
    for (const read of reads.noted) {
      const readers = this.#byRead.get(read)
      if (readers === undefined) this.#byRead.set(read, new Map([[watcher, watched]]))
      else readers.set(watcher, watched)
    }
  }

  #unplace(watcher: Watcher, watched: WatchedCollection): void {
    for (const read of watcher.watching?.reads ?? []) {
      const readers = this.#byRead.get(read)
      readers?.delete(watcher)
      if (readers?.size === 0) this.#byRead.delete(read)
    }
    watched.unplace(watcher)
  }

  #signal({ sessions }: Watcher, sequence: number): void {
    for (const { subscriber, topic, after } of sessions.values())
      if (after < sequence) this.#host.signal(subscriber, topic, sequence)
  }
}

function sessionOf({ id }: Subscriber, { text }: Topic): string {
  return `${id} ${text}`
}

/** Undefined where it is refused. */
function allowed<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
