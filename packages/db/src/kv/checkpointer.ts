/**
 * Storage checkpoints: what is only in the log and in the overlays goes to pages (write-pages.ts), while reads and writes go on.
 *
 * Guarantees: at most one runs at a time; a checkpoint that fails changes nothing.
 * Relies on: the caller holds the writer lease while one runs.
 */
import { PannierError } from '../base/errors.ts'
import { moduleOnDemand } from '../base/lazy-module.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import { MissingPageError } from '../pager/page-cache.ts'
import { type CommitBody, encodeCommit } from './commit-record.ts'
import type { Core } from './core.ts'
import { applyCommits } from './replay.ts'
import type { State } from './state.ts'
import type { SealedTransaction } from './transaction.ts'
import type * as WritePages from './write-pages.ts'

/** A storage checkpoint starts when the log holds this many records, whatever their size. */
export const LOG_RECORDS_MAX = 2500

/** Pages of one background checkpoint gathered before they are staged. */
const STAGE_BYTES: number = 512 * 1024
/** Share of the cache that the pages of a commit that skips the log may take before they are staged. */
const DIRECT_STAGE_SHARE = 0.6

/** Whoever only reads never loads it; writers do in the background, so that it is there when it is needed. */
export const pageWriting: () => MaybePromise<typeof WritePages> = moduleOnDemand(() => import('./write-pages.ts'))

export class Checkpointer {
  readonly #core: Core
  #running: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
  }

  get running(): Promise<void> | undefined {
    return this.#running
  }

  /** Starts one, or joins the one that runs. */
  start(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<void> {
    const core = this.#core
    const loaded = pageWriting()
    const { writeState } = isPromise(loaded) ? await loaded : loaded
    core.checkpointed(await this.#written(writeState(core, core.state, STAGE_BYTES)))
  }

  /** Commits a transaction into pages at once, together with everything that was only in the log. Not while one runs. */
  async commitDirect({ writeState }: typeof WritePages, sealed: SealedTransaction): Promise<void> {
    const core = this.#core
    const { sequence, body } = sealed
    const state = core.state === sealed.base ? sealed.result : applyCommits(core.state, [{ sequence, body: body! }])
    const nothing: CommitBody = { created: [], dropped: [], trees: [] }
    const mark = { sequence, bytes: encodeCommit(sequence, core.writerId, nothing) }
    const stageBytes = Math.max(STAGE_BYTES, core.options.cacheBytesMax * DIRECT_STAGE_SHARE)
    core.committedInPages(await this.#written(writeState(core, state, stageBytes, mark)), sealed)
  }

  /**
   * Pages that no snapshot can read are read here to be freed. If another handle has got ahead (this one was frozen) and freed them
   * first, this is no damage: it is overtaken, as the fence would have told it at the end.
   */
  async #written(writing: Promise<State>): Promise<State> {
    const { store } = this.#core.options
    const { generation, sequence } = this.#core.state
    try {
      return await writing
    } catch (error) {
      if (!(error instanceof MissingPageError)) throw error
      const { meta } = await store.read({ generation, sequence })
      if (meta === undefined || meta.generation === generation) throw error
      throw new PannierError('PANNIER_STALE', 'Another handle has written since, and freed pages.', { cause: error })
    }
  }
}
