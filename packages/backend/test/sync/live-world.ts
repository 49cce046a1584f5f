/** Sessions that get signals of what is committed to a small application. The test moves the clock, and says when commits are looked at. */
import { holdSnapshot } from 'pannier/internal'
import { CommitStates, type StepReader } from '../../src/events/commit-states.ts'
import { Subscriber } from '../../src/events/subscriber.ts'
import { topicsOf } from '../../src/events/topic.ts'
import type { Signals } from '../../src/events/signals.ts'
import { liveSync } from '../../src/sync/signals/live-sync.ts'
import type { FeedWorld } from './feed-world.ts'

/** A session of an account. */
export interface LiveSession {
  /** How many signals it has got. */
  signals: number
}

export class LiveSessions {
  readonly live: Signals
  readonly #world: FeedWorld
  readonly #states: CommitStates
  readonly #reader: StepReader
  readonly #sessions = new Map<Subscriber, LiveSession>()

  constructor(world: FeedWorld) {
    this.#world = world
    const { database, environment, definitions, accountHoldings } = world
    const signal = (subscriber: Subscriber): void => void this.#sessions.get(subscriber)!.signals++
    this.live = liveSync({ environment, definitions, accountHoldings })({ signal, wake: () => {} })
    const isFollowed = (name: string): boolean => !name.startsWith('$holdings') && !name.startsWith('$boots')
    this.#states = new CommitStates({ database, isFollowed, onStep: () => {}, environment })
    this.#reader = this.#states.read(this.#states.newest)!
  }

  open(user: string | null, collection: string): LiveSession {
    const channel = { address: undefined, send: () => {}, end: () => {} }
    const subscriber = new Subscriber(channel, false, {
      server: '',
      environment: this.#world.environment,
      hooks: () => undefined,
      waitingBytes: 0,
      cutOff: () => {},
    })
    const session: LiveSession = { signals: 0 }
    subscriber.principal = this.#world.actor(user).principal
    this.#sessions.set(subscriber, session)
    const [topic] = topicsOf([`@sync/${collection}`]).values()
    this.live.join(subscriber, topic!, this.#states.newest)
    return session
  }

  /** Looks at all that was committed, and at the clock. */
  async follow(): Promise<void> {
    for (let step = this.#reader.next(); step !== undefined; step = this.#reader.next()) await this.live.notify(step)
    const state = holdSnapshot(this.#world.database)
    await this.live.catchUp(state, this.#states.newest)
    state.end()
  }

  close(): void {
    this.#reader.end()
    this.#states.close()
  }
}
