/**
 * Restores a snapshot file as a database, in a page store in which nothing was ever written.
 *
 * Guarantees: each page is written once, unchanged. Memory is bounded by a few blocks. The store holds no database
 * before the one commit at the end. If the restore fails before it, staged pages are deleted, here or by the next
 * writer.
 *
 * The copy is a database of its own: it has another id, so that no replica mistakes it for the original, and its
 * generation and commits count from 1. Its page ids and the contents of its trees are those of the original.
 */
import type { CommitSequence, Generation, PageId } from '../base/brand.ts'
import type { Environment } from '../base/environment.ts'
import { isPannierError, PannierError } from '../base/errors.ts'
import { RunningWork, type LongWork } from '../base/long-work.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { readSnapshotFile } from '../pager/snapshot-file.ts'
import type { Durability, MetaRecord, Page, PageStore, StoreState } from '../storage/page-store.ts'
import { encodeCommit, WRITER_ID_BYTES } from './commit-record.ts'
import { decodeMeta, encodeMeta } from './meta-body.ts'
import type { State } from './state.ts'

interface RestoreOptions extends LongWork {
  readonly store: PageStore
  readonly environment: Environment
  readonly durability: Durability
  /** The id of the copy; a random one by default. */
  readonly databaseId?: string | undefined
}

const EMPTY = 0 as Generation
const FIRST_GENERATION = 1 as Generation
const FIRST_COMMIT = 1 as CommitSequence
const FIRST_PAGE = 1 as PageId

/** Pages gathered before they are staged. */
const STAGE_BYTES: number = 1024 * 1024

/** Whether it is what a restore has left, and nobody has written to it since. */
export function isUntouchedCopy({ meta, log }: StoreState): boolean {
  return meta?.generation === FIRST_GENERATION && meta.sequence === FIRST_COMMIT && log.length === 0
}

/** Whether a store holds a database: anything was ever committed there. */
export async function holdsDatabase(store: PageStore): Promise<boolean> {
  const { meta, log } = await store.read()
  return meta !== undefined || log.length > 0
}

/**
 * The caller holds the writer lease. When it fails, nothing that was staged is left.
 *
 * @throws PANNIER_EXISTS if there is a database; PANNIER_FORMAT_WRONG, PANNIER_FORMAT_NEWER, PANNIER_CORRUPT, PANNIER_ABORTED;
 *   what the source or the store throws.
 */
export async function restoreSnapshot(source: AsyncIterable<Uint8Array>, options: RestoreOptions): Promise<void> {
  if (await holdsDatabase(options.store)) throw exists()
  const restore = new Restore(options)
  try {
    await restore.run(source)
  } catch (error) {
    if (isPannierError(error, 'PANNIER_STALE')) throw exists(error)
    await restore.abandon()
    throw error
  }
}

class Restore {
  readonly #options: RestoreOptions
  readonly #work: RunningWork
  readonly #known = new Set<PageId>()
  #state: State | undefined
  #total = 0
  #done = 0
  #gathered: Page[] = []
  #gatheredBytes = 0
  #claim: string | undefined

  constructor(options: RestoreOptions) {
    this.#options = options
    const { environment, signal, onProgress } = options
    this.#work = new RunningWork({ name: 'The restore', environment, signal, onProgress })
  }

  async run(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const block of readSnapshotFile(source)) {
      await this.#work.pause()
      if (block.kind === 'meta') this.#begin(block.bytes)
      else if (block.kind === 'pages') await this.#put(block.pages)
      else await this.#commit()
    }
    this.#work.complete()
  }

  /** Deletes what was staged, as far as the store still answers; if it does not, the next claim there will. */
  async abandon(): Promise<void> {
    const { store, environment } = this.#options
    if (this.#claim === undefined) return
    try {
      // Fails if another one has claimed since: what is staged now is not ours.
      await store.stage(this.#claim, [])
      await store.claim(environment.randomId(), EMPTY, FIRST_PAGE)
    } catch {
      // The failure that matters is the one before.
    }
  }

  #begin(metaPage: Uint8Array): void {
    const record: MetaRecord = { generation: EMPTY, sequence: 0 as CommitSequence, bytes: metaPage }
    this.#state = decodeMeta(record)
    this.#total = this.#state.trees.reduce((sum, tree) => sum + (tree?.tree?.bytes ?? 0), 0)
  }

  async #put(pages: readonly Page[]): Promise<void> {
    const { nextPageId } = this.#state!
    for (const page of pages) {
      const { id, bytes } = page
      if (id < FIRST_PAGE || id >= nextPageId || this.#known.has(id)) throw corruptBytes(`page ${id} of the snapshot`)
      this.#known.add(id)
      this.#gathered.push(page)
      this.#gatheredBytes += bytes.length
      this.#done += bytes.length
    }
    if (this.#gatheredBytes >= STAGE_BYTES) await this.#stage()
    this.#work.report(this.#done, this.#total)
  }

  async #stage(): Promise<void> {
    const { store, environment } = this.#options
    if (this.#claim === undefined) {
      this.#claim = environment.randomId()
      await store.claim(this.#claim, EMPTY, FIRST_PAGE)
    }
    await store.stage(this.#claim, this.#gathered)
    this.#gathered = []
    this.#gatheredBytes = 0
  }

  async #commit(): Promise<void> {
    const { store, environment, durability, databaseId = environment.randomId() } = this.#options
    const state: State = { ...this.#state!, databaseId, generation: FIRST_GENERATION }
    const meta: MetaRecord = { generation: FIRST_GENERATION, sequence: FIRST_COMMIT, bytes: encodeMeta(state) }
    try {
      await store.commit({
        expectedGeneration: EMPTY,
        ...(this.#claim === undefined ? {} : { claim: this.#claim }),
        pages: this.#gathered,
        free: [],
        meta,
        firstNewPageId: FIRST_PAGE,
        // Fences the commit against a write into the empty database, and later writes against one another.
        record: { sequence: FIRST_COMMIT, bytes: emptyCommit() },
        durability,
      })
    } catch (error) {
      if (!(await this.#hasHappened(meta))) throw error
    }
  }

  /** A commit that failed may have happened all the same. */
  async #hasHappened({ bytes }: MetaRecord): Promise<boolean> {
    try {
      const { meta } = await this.#options.store.read()
      return meta?.bytes.length === bytes.length && meta.bytes.every((byte, at) => byte === bytes[at])
    } catch {
      return false
    }
  }
}

/** A mere mark in the log, of no handle. */
function emptyCommit(): Uint8Array {
  return encodeCommit(FIRST_COMMIT, new Uint8Array(WRITER_ID_BYTES), { created: [], dropped: [], trees: [] })
}

function exists(cause?: unknown): PannierError {
  return new PannierError(
    'PANNIER_EXISTS',
    'A database exists here already. Restore under another name, or destroy it first.',
    cause === undefined ? {} : { cause },
  )
}
