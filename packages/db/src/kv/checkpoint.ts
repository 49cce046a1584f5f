/**
 * Storage checkpoints: they move changes from the log and the overlays to pages, in slices, while reads and writes
 * continue.
 *
 * Guarantees: at most one runs at a time. At every moment a commit is in the log or in the pages of the meta page. A
 * failed storage checkpoint changes nothing. Relies on: the caller holds the writer lease while one runs. Without it
 * another handle's fence refuses the commit: work is lost, but nothing is damaged.
 */
import { PannierError } from '../base/errors.ts'
import { loadReducer } from '../btree/reducer.ts'
import { MissingPageError, type PageCache } from '../pager/page-cache.ts'
import { type CommitBody, encodeCommit } from './commit-record.ts'
import type { Core } from './core.ts'
import { applyCommits } from './replay.ts'
import type { State, TreeState } from './state.ts'
import * as limits from './limits.ts'
import type { SealedTransaction } from './transaction.ts'
import type { Generation, PageId } from '../base/brand.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { applyChanges } from '../btree/apply.ts'
import { Branch } from '../btree/branch.ts'
import { Leaf, isOverflow, overflowPageCount, LEAF_BYTES_TARGET } from '../btree/leaf.ts'
import { parseNode, type Node } from '../btree/node.ts'
import { PageWriter } from '../pager/page-writer.ts'
import { isReclaimable, type DroppedSubtree, type ReclaimList, type Unlinked } from '../pager/reclaim.ts'
import type { LogRecord } from '../storage/page-store.ts'
import { encodeMeta } from './meta-body.ts'
import { EMPTY_OVERLAY, overlayColumns, overlaySize } from './overlay.ts'

export class Checkpointer {
  readonly #core: Core
  /** The storage checkpoint that is under way. */
  running: Promise<void> | undefined

  constructor(core: Core) {
    this.#core = core
  }

  /** Starts one, or joins the one that runs. */
  start(): Promise<void> {
    this.running ??= this.#run().finally(() => (this.running = undefined))
    return this.running
  }

  async #run(): Promise<void> {
    const core = this.#core
    const { state, cache } = core
    const writer = pageWriter(core, cache, state, limits.STAGE_BYTES, false)
    core.checkpointed(await this.#written(writeState(core, state, writer)))
  }

  /** Commits a transaction into pages at once, together with everything that was only in the log. Not while one runs. */
  async commitDirect(sealed: SealedTransaction): Promise<void> {
    const core = this.#core
    const { sequence, body } = sealed
    const state = core.state === sealed.base ? sealed.result : applyCommits(core.state, [{ sequence, body: body! }])
    const nothing: CommitBody = { created: [], dropped: [], trees: [] }
    const mark = { sequence, bytes: encodeCommit(sequence, core.writerId, nothing) }
    const share = Math.min(core.cache.bytesMax * limits.DIRECT_STAGE_SHARE, limits.DIRECT_STAGE_BYTES_MAX)
    const stageBytes = Math.max(limits.STAGE_BYTES, share)
    const writer = sealed.writer ?? pageWriter(core, core.cache, state, stageBytes, true)
    core.committedInPages(await this.#written(writeState(core, state, writer, mark)), sealed)
  }

  /**
   * Pages that no snapshot can read are read here to be freed. If this handle was frozen and another one has freed them
   * first, that is not damage: the fence would refuse the commit at its end.
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
      throw new PannierError('PANNIER_STALE', 'Another handle has written since and freed pages.', { cause: error })
    }
  }
}

/** Writes pages that stand on those of a state. `late`: somebody waits for them. */
export function pageWriter(
  { options: { store, environment } }: Core,
  cache: PageCache<Node>,
  { generation, nextPageId }: State,
  stageBytes: number,
  late: boolean,
): PageWriter<Node> {
  return new PageWriter<Node>({ store, cache, parse: parseNode, environment, generation, nextPageId, stageBytes, late })
}

/** Writes a state into pages; gives it as it is then. `record`: it comes with a commit, for which somebody waits. */
async function writeState(core: Core, state: State, writer: PageWriter<Node>, record?: LogRecord): Promise<State> {
  const { durability } = core.options
  const trees = await writeTrees(writer, state.trees)
  const { list, free } = await reclaim(core, writer, state)
  const base: State = {
    ...state,
    generation: (state.generation + 1) as Generation,
    baseSequence: state.sequence,
    nextPageId: writer.nextPageId,
    reclaim: list,
    droppedRoots: [],
    trees,
  }
  await writer.commit({
    sequence: state.sequence,
    meta: encodeMeta(base),
    free,
    ...(record === undefined ? {} : { record }),
    durability,
  })
  return base
}

/** Frees the pages that can be freed now. Gives those that have to wait. */
async function reclaim(
  core: Core,
  writer: PageWriter<Node>,
  state: State,
): Promise<{ list: ReclaimList; free: PageId[] }> {
  const generation = (state.generation + 1) as Generation
  const oldest = (await core.options.coordinator.oldestPinned()) ?? state.generation
  const free: PageId[] = []
  const unlinked: Unlinked[] = []
  for (const pages of state.reclaim.unlinked) {
    if (isReclaimable(pages.generation, oldest)) for (const id of pages.ids) free.push(id)
    else unlinked.push(pages)
  }
  if (writer.unlinked.length > 0) unlinked.push({ generation, ids: writer.unlinked })
  const waiting = state.reclaim.dropped.filter((subtree) => !isReclaimable(subtree.generation, oldest))
  const ready = state.reclaim.dropped.filter((subtree) => isReclaimable(subtree.generation, oldest))
  await freeSubtrees(writer, ready, free)
  const fresh = state.droppedRoots.map(({ id, height, overflow }) => ({
    generation,
    id,
    level: height - 1,
    overflow,
  }))
  return { list: { unlinked, dropped: [...ready, ...waiting, ...fresh] }, free }
}

/** The trees with what their overlays hold in pages. */
export async function writeTrees(
  writer: PageWriter<Node>,
  trees: readonly (TreeState | undefined)[],
): Promise<(TreeState | undefined)[]> {
  const written: (TreeState | undefined)[] = []
  for (const tree of trees) written.push(tree === undefined ? undefined : await writeTree(writer, tree))
  return written
}

async function writeTree(writer: PageWriter<Node>, state: TreeState): Promise<TreeState> {
  const { kind, overlay, reducer } = state
  if (kind === 'inline' || overlay.root === undefined) return state
  const loaded = reducer === undefined ? undefined : await loadReducer(reducer)
  return {
    ...state,
    tree: await applyChanges(writer, state.tree, overlayColumns(overlay), kind, loaded),
    overlay: EMPTY_OVERLAY,
  }
}

/** Takes subtrees from the list and frees their pages, until the list is empty or enough was done. */
async function freeSubtrees(writer: PageWriter<Node>, subtrees: DroppedSubtree[], free: PageId[]): Promise<void> {
  while (subtrees.length > 0 && free.length < limits.RECLAIM_PAGES_MAX) {
    const subtree = subtrees.pop()!
    free.push(subtree.id)
    if (subtree.level === 0 && !subtree.overflow) continue
    const release = await writer.load([subtree.id])
    const node = writer.peek(subtree.id)
    release()
    if (node instanceof Branch) {
      const { generation } = subtree
      for (const { id, overflow } of node.children) subtrees.push({ generation, id, level: node.level - 1, overflow })
    } else if (node instanceof Leaf) {
      for (let i = 0; i < node.count; i++) freeOverflow(node, i, free)
    } else {
      throw corruptBytes(`page ${subtree.id} is not part of a tree`)
    }
    await writer.pause()
  }
}

function freeOverflow(leaf: Leaf, index: number, free: PageId[]): void {
  const value = leaf.value(index)
  if (!isOverflow(value)) return
  for (let page = 0; page < overflowPageCount(value.length); page++) free.push((value.first + page) as PageId)
}

/**
 * Whether a transaction skips the log and goes straight to pages. The log costs its bytes twice (once in the log, once
 * in pages) but spares random pages from being rewritten for each transaction. So a transaction skips it if it would
 * fill it, or is large compared with the pages that it touches (a bulk insert into an empty or small collection).
 */
export function skipsLog({ result, body, bytes }: SealedTransaction, logBytes: number): boolean {
  if (body === undefined) return true
  if (bytes < limits.DIRECT_BYTES_MIN) return false
  if (bytes >= limits.FILLING_BYTES_MIN && logBytes + bytes >= limits.LOG_BYTES_MAX) return true
  return rewrittenBytes(result) <= bytes
}

/** An estimate from above of the existing pages that a storage checkpoint would have to write again. */
function rewrittenBytes({ trees }: State): number {
  let rewritten = 0
  for (const tree of trees) {
    if (tree === undefined || tree.kind === 'inline' || tree.tree === undefined) continue
    const changes = overlaySize(tree.overlay)
    if (changes === 0) continue
    const leaf = LEAF_BYTES_TARGET[tree.kind]
    rewritten += Math.min(tree.tree.bytes, (tree.kind === 'sequence' ? 1 : changes) * leaf)
  }
  return rewritten
}
