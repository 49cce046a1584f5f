/**
 * Writes a state into pages, in slices, while reads and writes go on. Loaded when the first storage checkpoint is due, as pages that
 * only read never need it.
 *
 * Guarantees: a commit is at every moment in the log or in the pages that the meta page refers to; a write that fails changes
 * nothing.
 * Relies on: the caller holds the writer lease meanwhile (another handle's would be fenced otherwise, and so be lost work, not
 * damage), and runs one at a time.
 */
import { loadedModule } from '../base/lazy-module.ts'
import type { Generation, PageId } from '../base/brand.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { applyChanges } from '../btree/apply.ts'
import { Branch } from '../btree/branch.ts'
import { Leaf, isOverflow, overflowPageCount } from '../btree/leaf.ts'
import { parseNode, type Node } from '../btree/node.ts'
import { PageWriter } from '../pager/page-writer.ts'
import { isReclaimable, type DroppedSubtree, type ReclaimList, type Unlinked } from '../pager/reclaim.ts'
import type { LogRecord } from '../storage/page-store.ts'
import type { Core } from './core.ts'
import { encodeMeta } from './meta-body.ts'
import { EMPTY_OVERLAY, overlayColumns } from './overlay.ts'
import type { State, TreeState } from './state.ts'

/** Pages of dropped trees freed by one checkpoint. */
const RECLAIM_PAGES_MAX = 10_000

/** Writes a state into pages; gives it as it is then. `record`: it comes with a commit, for which somebody waits. */
export async function writeState(core: Core, state: State, stageBytes: number, record?: LogRecord): Promise<State> {
  const { options, cache } = core
  const { store, environment, durability } = options
  const writer = new PageWriter<Node>({
    store,
    cache,
    parse: parseNode,
    environment,
    generation: state.generation,
    nextPageId: state.nextPageId,
    stageBytes,
    late: record !== undefined,
  })
  const slots: (TreeState | undefined)[] = []
  for (const tree of state.slots) slots.push(tree === undefined ? undefined : await writeTree(writer, tree))
  const { list, free } = await reclaim(core, writer, state)
  const base: State = {
    ...state,
    generation: (state.generation + 1) as Generation,
    baseSequence: state.sequence,
    nextPageId: writer.nextPageId,
    reclaim: list,
    droppedRoots: [],
    slots,
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

/** What can be freed now, and what has to wait. */
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

async function writeTree(writer: PageWriter<Node>, state: TreeState): Promise<TreeState> {
  const { kind, overlay, reducer } = state
  if (kind === 'inline' || overlay.root === undefined) return state
  // Most databases have no view with a reduction.
  const loaded = reducer && (await loadedModule(import('../btree/reducers.ts'))).reducerOf(reducer)
  return {
    ...state,
    tree: await applyChanges(writer, state.tree, overlayColumns(overlay), kind, loaded),
    overlay: EMPTY_OVERLAY,
  }
}

/** Takes subtrees from the list and frees their pages, until there are none or enough was done. */
async function freeSubtrees(writer: PageWriter<Node>, subtrees: DroppedSubtree[], free: PageId[]): Promise<void> {
  while (subtrees.length > 0 && free.length < RECLAIM_PAGES_MAX) {
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
