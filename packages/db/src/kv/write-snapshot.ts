/**
 * Writes a state as a snapshot file (pager/snapshot-file.ts): every page of its trees, read once and copied unchanged,
 * and a meta page without what belongs only to this database.
 *
 * Relies on: the trees of the state are in pages (their overlays are empty, except inline trees), and the pages are
 * held. Memory: a block of pages for each level of a tree.
 */
import type { Generation, PageId } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { RunningWork, type LongWork } from '../base/long-work.ts'
import { isPromise } from '../base/async.ts'
import { Branch } from '../btree/branch.ts'
import { isOverflow, Leaf, overflowPageCount } from '../btree/leaf.ts'
import { parseNode } from '../btree/node.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { MissingPageError } from '../pager/page-cache.ts'
import { verifyPage } from '../pager/page.ts'
import { NOTHING_TO_RECLAIM } from '../pager/reclaim.ts'
import { BLOCK_PAGES_MAX, SnapshotEncoder } from '../pager/snapshot-file.ts'
import type { Page } from '../storage/page-store.ts'
import type { Core, CoreOptions } from './core.ts'
import { encodeMeta } from './meta-body.ts'
import { explained } from './snapshot.ts'
import type { State } from './state.ts'

/** A snapshot file in the making. */
export interface SnapshotExport {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>
  /** Releases it. Idempotent. */
  release(): void
}

/** Options of `db.snapshot`. */
export interface SnapshotOptions extends LongWork {
  /** Whether it takes a password or key of the database to restore it. By default it does if the database is encrypted. */
  readonly sealed?: boolean
}

/** A page of a tree, as the branch above it says. */
interface TreePage {
  readonly id: PageId
  readonly level: number
  readonly overflow: boolean
}

/** Takes the newest state; `isNewest` tells whether it still is. */
export type TakeOver<T> = (chunks: AsyncIterable<Uint8Array>, isNewest: () => Promise<boolean>) => Promise<T>

/** Relies on: the handle holds the lease, and nothing is in the log alone. */
export async function handOver<T>(core: Core, options: SnapshotOptions, work: TakeOver<T>): Promise<T> {
  const { state } = core
  const release = core.hold(state.generation)
  const isNewest = async (): Promise<boolean> => {
    await core.refresh()
    return core.state.sequence === state.sequence
  }
  try {
    return await work(writeSnapshot(state, core.options, options), isNewest)
  } finally {
    release()
  }
}

/** The bytes of the file, in chunks of at most some 2 MiB. */
export async function* writeSnapshot(
  state: State,
  { store, environment }: Pick<CoreOptions, 'store' | 'environment'>,
  { signal, onProgress, sealed }: SnapshotOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Sealing is not done here.
  if (sealed === true) throw new PannierError('PANNIER_NOT_ENCRYPTED', 'The database is not encrypted.')
  const work = new RunningWork({ name: 'The snapshot', environment, signal, onProgress })
  work.throwIfCancelled()
  const encoder = new SnapshotEncoder()
  yield encoder.prelude(environment.randomId())
  yield encoder.meta(encodeMeta({ ...state, generation: 0 as Generation, reclaim: NOTHING_TO_RECLAIM }))
  const total = state.trees.reduce((sum, tree) => sum + (tree?.tree?.bytes ?? 0), 0)
  let done = 0
  const read = async (ids: readonly PageId[]): Promise<readonly Page[]> => {
    await work.pause()
    const found = store.readPages(ids)
    const pages = isPromise(found) ? await found : found
    return explained(() => ids.map((id, at) => checkedPage(id, pages[at])), store, state)
  }
  for (const tree of state.trees) {
    if (tree?.tree === undefined) continue
    const { id, height, overflow } = tree.tree
    for await (const pages of pagesBelow([{ id, level: height - 1, overflow }], read)) {
      yield encoder.pages(pages)
      for (const { bytes } of pages) done += bytes.length
      // What is known beforehand is the size of the leaves.
      work.report(done, total)
    }
  }
  yield encoder.end()
  work.complete()
}

type ReadPages = (ids: readonly PageId[]) => Promise<readonly Page[]>

/** These pages and all below them, each once. */
async function* pagesBelow(
  places: readonly TreePage[],
  read: ReadPages,
): AsyncGenerator<readonly Page[], void, undefined> {
  for (let from = 0; from < places.length; from += BLOCK_PAGES_MAX) {
    const batch = places.slice(from, from + BLOCK_PAGES_MAX)
    const pages = await read(batch.map(({ id }) => id))
    yield pages
    for (let i = 0; i < batch.length; i++) {
      const { level, overflow } = batch[i]!
      if (level > 0) yield* pagesBelow(childrenOf(pages[i]!, level), read)
      else if (overflow) yield* pagesBelow(overflowPlaces(pages[i]!), read)
    }
  }
}

function childrenOf({ id, bytes }: Page, level: number): TreePage[] {
  const node = parseNode(id, bytes)
  if (!(node instanceof Branch) || node.level !== level)
    throw corruptBytes(`page ${id} is not a branch of level ${level}`)
  return node.children.map((child) => ({ id: child.id, level: level - 1, overflow: child.overflow }))
}

function overflowPlaces({ id, bytes }: Page): TreePage[] {
  const leaf = parseNode(id, bytes)
  if (!(leaf instanceof Leaf)) throw corruptBytes(`page ${id} is not a leaf`)
  const places: TreePage[] = []
  for (let i = 0; i < leaf.count; i++) {
    const value = leaf.value(i)
    if (!isOverflow(value)) continue
    for (let page = 0; page < overflowPageCount(value.length); page++) {
      places.push({ id: (value.first + page) as PageId, level: 0, overflow: false })
    }
  }
  return places
}

function checkedPage(id: PageId, bytes: Uint8Array | undefined): Page {
  if (bytes === undefined) throw new MissingPageError(id)
  verifyPage(id, bytes)
  return { id, bytes }
}
