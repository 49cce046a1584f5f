/** Signals are messages without data: a pull would bring something. Who computes them stands above this layer (sync/live-sync.ts). */
import type { SnapshotReader } from 'pannier/internal'
import type { Principal } from '../gateway/principal.ts'
import type { CommitStep } from './commit-states.ts'
import type { Subscriber } from './subscriber.ts'
import type { Topic } from './topic.ts'

/** Topics with this prefix are for signals. The name of a collection comes after it. */
export const SIGNAL_PREFIX = '@sync/'

/** The parts that send signals. */
export interface SignalHost {
  /** Sends a signal, as of a commit. */
  signal(subscriber: Subscriber, topic: Topic, sequence: number): void
  /** Wakes it: `isWaiting` has become true. */
  wake(): void
}

/** Finds out who gets a signal. It is given one step after another. */
export interface Signals {
  /** Whether nobody is subscribed. */
  readonly isEmpty: boolean
  /** Whether it is waiting for `catchUp` to do something. */
  readonly isWaiting: boolean
  /**
   * `after`: the number of the commit after which the session gets signals. `was`: whose session it was until now. Another account has
   * another replica, as when a token has ended.
   */
  join(subscriber: Subscriber, topic: Topic, after: number, was?: Principal): void
  /** `principal`: whose session it was. Gives the commit after which it got signals; undefined if it did not. */
  leave(subscriber: Subscriber, topic: Topic, principal: Principal): number | undefined
  /** Forgets subscriptions whose sessions have gone. */
  tidy(): void
  /** Computes what new subscriptions hold, as of a state, and signals what time has changed. */
  catchUp(state: SnapshotReader, sequence: number): Promise<void>
  /** Signals what a step has changed for somebody. */
  notify(step: CommitStep): Promise<void>
}

/** Whether a topic is for signals. */
export function isSignalTopic({ name }: Topic): boolean {
  return name.startsWith(SIGNAL_PREFIX)
}
