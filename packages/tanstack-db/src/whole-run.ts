/** The run of a collection of TanStack DB that has all rows. */
import { isPannierError, type LiveQuery } from 'pannier'
import { tellListener } from 'pannier/internal'
import { rowOf, SyncRun, type Change, type Place, type StoredRow, type Target } from './sync-run.ts'

/** The number of rows that the first load shows at a time. */
const BATCH_ROWS = 1000

export class WholeRun extends SyncRun {
  readonly #stop: (() => void) | undefined
  /** Undefined: no rows come. */
  #live: LiveQuery<StoredRow> | undefined
  #account: string | undefined

  constructor(place: Place, name: string, target: Target) {
    super(place, name, target)
    void this.#follow()
    this.#stop = place.onAccount?.(() => {
      if (!this.#live || place.account?.() !== this.#account) void this.#follow(true)
    })
  }

  end(): void {
    this.#stop?.()
    this.#live?.close()
    this.#live = undefined
  }

  protected get isAtWork(): boolean {
    return this.#live !== undefined
  }

  protected async stored(ids: readonly string[]): Promise<(string | undefined)[]> {
    await this.#live?.ready
    return (await this.place.rows(this.name).get(ids)).map((row) => row?._rev)
  }

  /** `isOther`: the rows of another account come in place of those before. */
  async #follow(isOther = false): Promise<void> {
    const { markReady, markError } = this.target
    this.#live?.close()
    this.#live = undefined
    let live: LiveQuery<StoredRow> | undefined
    let isReady = false
    try {
      this.#account = this.place.account?.()
      live = this.#live = this.place.rows(this.name).find().live()
      for await (const { changes } of live) {
        if (isReady) void this.give(changes.map(rowOf))
        else await this.#giveFirst(live, changes, isOther)
        if (live !== this.#live) return
        if (!isReady) tellListener(markReady)
        isReady = true
      }
      // The database is closed. The rows stay, if there are any, until those of another account are there.
      await live.ready
      if (live === this.#live && this.place.account !== undefined) void this.#follow(true)
    } catch (error) {
      const isLastClosed = isOther && isPannierError(error, 'PANNIER_CLOSED')
      if (live === this.#live && !isLastClosed) markError(error)
    } finally {
      if (live === this.#live) this.#live = undefined
      this.tell()
    }
  }

  /** Gives the rows in batches, so that a page shows the first of them early. */
  async #giveFirst(live: LiveQuery<StoredRow>, changes: readonly Change[], isOther: boolean): Promise<void> {
    for (let at = 0; live === this.#live && (at === 0 || at < changes.length); at += BATCH_ROWS) {
      void this.give(changes.slice(at, at + BATCH_ROWS).map(rowOf), isOther && at === 0)
      await this.place.environment.yield()
    }
  }
}
