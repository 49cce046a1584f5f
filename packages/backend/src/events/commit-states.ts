/**
 * The states of the database, one commit after another, while somebody listens. Two of them
 * show what a commit has changed. Commits never wait. A reader may be behind, and states are held for it.
 *
 * Guarantee: no commit is missed. A reader that is far behind gets several commits as one step, with what is left of their changes.
 */
import type { Database } from 'pannier'
import { followCommits, holdSnapshot, type SnapshotReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'

/** A commit, or several between which no state was held. */
export interface CommitStep {
  /** The number of its last commit. */
  readonly sequence: number
  readonly before: SnapshotReader
  readonly after: SnapshotReader
  /** The library's names of the collections whose documents it has written. */
  readonly collections: ReadonlySet<string>
}

interface CommitStatesOptions {
  readonly database: Database
  /** Whether commits that write a collection are of interest. */
  readonly isFollowed: (collection: string) => boolean
  /** Calls back when there is a new step. */
  readonly onStep: () => void
  readonly environment: Pick<Environment, 'now'>
}

interface State {
  snapshot: SnapshotReader
  /** The number of the commit that made it. The snapshot may have later commits, of no interest. */
  sequence: number
  collections: ReadonlySet<string>
  readonly atMs: number
}

/** Commits that wait for a reader. When there are more, the newest ones become one step. */
const WAITING_MAX = 4096
/** Steps are kept that long, and that many, for clients that come back. */
export const KEPT_MS = 120_000
const KEPT_MAX = 4096

export class CommitStates {
  readonly #options: CommitStatesOptions
  readonly #stopFollowing: () => void
  readonly #states: State[] = []
  /** The position of the first state, counted from the beginning. */
  #first = 0
  readonly #readers = new Set<StepReader>()
  /** Until then, steps are kept for clients that come back. */
  keptUntilMs = 0

  constructor(options: CommitStatesOptions) {
    this.#options = options
    this.#push(new Set())
    this.#stopFollowing = followCommits(options.database, (collections) => this.#committed(collections))
  }

  /** The number of the newest commit of interest. */
  get newest(): number {
    return this.#states.at(-1)!.sequence
  }

  /** Reads the steps after a commit, or from it on. Undefined if they are not kept any more. */
  read(commit: number, fromItOn = false): StepReader | undefined {
    const at = this.#states.findIndex(({ sequence }) => sequence === commit) - Number(fromItOn)
    if (at < 0) return undefined
    const reader = new StepReader(
      this.#first + at,
      (position) => this.#stepAt(position),
      () => this.#prune(),
      () => this.#readers.delete(reader),
    )
    this.#readers.add(reader)
    return reader
  }

  close(): void {
    this.#stopFollowing()
    for (const { snapshot } of this.#states.splice(0)) snapshot.end()
  }

  #committed(collections: ReadonlySet<string>): void {
    const last = this.#states.at(-1)!
    const isFree = ![...this.#readers].some((reader) => reader.isAt(this.#first + this.#states.length - 1))
    if (![...collections].some(this.#options.isFollowed)) {
      // Otherwise the pages of an old state would be held while nothing happens.
      if (isFree) this.#replace(last)
      this.#prune()
      return
    }
    const behind = this.#first + this.#states.length - this.#slowest()
    if (behind > WAITING_MAX && isFree) {
      this.#replace(last)
      last.sequence = last.snapshot.sequence
      last.collections = new Set([...last.collections, ...collections])
    } else this.#push(collections)
    this.#prune()
    this.#options.onStep()
  }

  #push(collections: ReadonlySet<string>): void {
    const snapshot = holdSnapshot(this.#options.database)
    this.#states.push({
      snapshot,
      sequence: snapshot.sequence,
      collections,
      atMs: this.#options.environment.now(),
    })
  }

  #replace(state: State): void {
    state.snapshot.end()
    state.snapshot = holdSnapshot(this.#options.database)
  }

  #stepAt(position: number): CommitStep | undefined {
    const [before, after] = this.#states.slice(position - this.#first, position - this.#first + 2)
    if (before === undefined || after === undefined) return undefined
    const { sequence, collections, snapshot } = after
    return { sequence, collections, before: before.snapshot, after: snapshot }
  }

  #slowest(): number {
    return Math.min(this.#first + this.#states.length - 1, ...Array.from(this.#readers, ({ position }) => position))
  }

  #prune(): void {
    const nowMs = this.#options.environment.now()
    const isKept = ({ atMs }: State): boolean => nowMs <= this.keptUntilMs && nowMs - atMs <= KEPT_MS
    const slowest = this.#slowest()
    let count = 0
    while (this.#first + count < slowest) {
      if (isKept(this.#states[count]!) && this.#states.length - count <= KEPT_MAX) break
      count++
    }
    for (const { snapshot } of this.#states.splice(0, count)) snapshot.end()
    this.#first += count
  }
}

/** Reads steps in their order. End it. */
export class StepReader {
  /** The position of the state that it has reached. */
  position: number
  #isReading = false
  readonly #stepAt: (position: number) => CommitStep | undefined
  readonly #moved: () => void
  readonly #ended: () => void

  /** @internal */
  constructor(
    position: number,
    stepAt: (position: number) => CommitStep | undefined,
    moved: () => void,
    ended: () => void,
  ) {
    this.position = position
    this.#stepAt = stepAt
    this.#moved = moved
    this.#ended = ended
  }

  /** Whether the state at a position is being read. */
  isAt(position: number): boolean {
    return this.#isReading && (position === this.position || position === this.position + 1)
  }

  /** The next step, which may be read until the next call. Undefined: it comes later. */
  next(): CommitStep | undefined {
    if (this.#isReading) {
      this.position++
      this.#moved()
    }
    const step = this.#stepAt(this.position)
    this.#isReading = step !== undefined
    return step
  }

  end(): void {
    this.#ended()
    this.#moved()
  }
}
