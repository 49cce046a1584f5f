/** Keeps what queries have answered: each runs once for all that wait, and again only when something that it reads has changed. */
import { LruMap } from 'pannier/internal'

/** A query that can be run. */
export interface ReadyQuery {
  /** True if the rows may change by themselves. */
  readonly isVolatile: boolean
}

/** Follows what queries read. */
export interface QuerySource<Ready extends ReadyQuery> {
  /** Waits for a commit; for the newest one when it is left out. `changedAt`: the newest one that has changed what is read. */
  upTo(ready: Ready, sequence?: number): Promise<{ readonly at: number; readonly changedAt: number }>
}

interface KnownResult<Result> {
  readonly ready: ReadyQuery
  /** The commit that it has at least. */
  readonly at: number
  readonly result: Promise<Result>
  isRunning: boolean
}

export class QueryResults<Ready extends ReadyQuery, Result> {
  readonly #source: QuerySource<Ready>
  readonly #weigh: (result: Result) => number
  readonly #known: LruMap<string, KnownResult<Result>>

  /** Makes the cache of results from a source. Its results weigh `weightMax` at most, except for the newest one. What weighs `Infinity` is not kept. */
  constructor(source: QuerySource<Ready>, weigh: (result: Result) => number, weightMax: number = Infinity) {
    this.#source = source
    this.#weigh = weigh
    this.#known = new LruMap(weightMax)
  }

  /** The result of `run` for the key, at the commit `at`. `sequence`: the result has this commit at least. */
  async get(
    key: string,
    ready: Ready,
    run: (at: number) => Promise<Result>,
    sequence?: number,
  ): Promise<{ readonly result: Result; readonly at: number }> {
    for (;;) {
      const { at, changedAt } = await this.#source.upTo(ready, sequence)
      const known = this.#known.get(key)
      const isCurrent = known?.ready === ready && known.at >= changedAt
      if (isCurrent && (known.isRunning || !ready.isVolatile)) return { result: await known.result, at }
      if (known?.isRunning === true) await known.result.catch(() => {})
      else return { result: await this.#start(key, ready, at, run), at }
    }
  }

  #start(key: string, ready: Ready, at: number, run: (at: number) => Promise<Result>): Promise<Result> {
    const result = run(at)
    const made: KnownResult<Result> = { ready, at, result, isRunning: true }
    this.#known.set(key, made, 0)
    const settle = (weight: number): void => {
      made.isRunning = false
      if (this.#known.get(key) !== made) return
      if (weight === Infinity) this.#known.delete(key)
      else this.#known.set(key, made, weight)
    }
    result.then(
      (answer) => settle(this.#weigh(answer) + key.length),
      () => settle(Infinity),
    )
    return result
  }
}
