/**
 * A follower of a collection: it keeps memory up to date by reading changes. The tree of bodies is in the order of the last write, so
 * what has changed since is one range of it, whichever handle wrote. Only a purge leaves no trace there: `CollectionRows` notices it by
 * the number of documents.
 */
import { isPromise } from '../../base/async.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import { BodyView } from '../../document/body.ts'
import type { DocumentReader } from '../../document/document-reader.ts'
import { stepClock } from '../operators/operator.ts'
import type { QuerySource } from '../query-source.ts'

/** Bodies that one step looks at. */
const STEP_BODIES = 2048

/** Bodies written after a sequence, tombstones too: a function that gives the next body, the same object each time. */
export function bodiesAfter(
  { bodies }: DocumentReader,
  sequence: number,
  expected: number,
): () => BodyView | undefined {
  const cursor = bodies.cursor({ gte: numberKey(sequence + 1) }, { expected })
  const body = new BodyView()
  return () => (cursor.next() ? body.load(cursor.value, cursor.keyNumber) : undefined)
}

/** `Context`: by what the bodies of one source are understood. Several queries may lead it at the same time. */
export abstract class Follower<Context> {
  /** The sequence of the last body that it knows. */
  #sequence: number
  /** The goal: the newest state that it was on its way to. An older one is out of reach: what it lacks may be gone already. */
  #goal: number

  constructor(sequence: number) {
    this.#sequence = sequence
    this.#goal = sequence
  }

  /** Whether it is full. Then the follower can't hold all, and must not be used any more. */
  abstract readonly isFull: boolean

  /** Bodies come in the order of their sequences, tombstones too; each replaces what was said of its document. */
  protected abstract follow(body: BodyView, context: Context): void

  /** Whether it knows just what is in the source. */
  isAt({ documents }: QuerySource): boolean {
    const last = documents.bodies.lastNumber
    return this.#goal === last && this.#sequence === last
  }

  /** Follows to a source's state: learns what it lacks. False if it is ahead of the source or gets there meanwhile, or is full. `check` may throw. */
  protected async followTo(source: QuerySource, context: Context, check: () => void): Promise<boolean> {
    const { documents } = source
    const last = documents.bodies.lastNumber
    if (last < this.#goal) return false
    this.#goal = last
    const step = (): boolean => {
      const next = bodiesAfter(documents, this.#sequence, STEP_BODIES)
      const isLate = stepClock(source.now)
      for (let looked = 0; looked < STEP_BODIES && !this.isFull && !isLate(); looked++) {
        const body = next()
        if (body === undefined) return true
        this.follow(body, context)
        this.#sequence = body.sequence
      }
      return false
    }
    while (this.#sequence < last && !this.isFull) {
      check()
      const attempted = source.attempt(step)
      const isDone = isPromise(attempted) ? await attempted : attempted
      const paused = source.pause()
      if (isPromise(paused)) await paused
      if (this.#goal > last) return false
      if (isDone) this.#sequence = last
    }
    return !this.isFull
  }
}
