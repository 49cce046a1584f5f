/**
 * The integrity check of a whole store: every tree is sound, and every stored page is reachable from exactly one place: a
 * tree, or the list of pages to reclaim.
 */
import type { PageId } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import type { RunningWork } from '../base/long-work.ts'
import { Branch } from '../btree/branch.ts'
import { checkTree } from '../btree/check.ts'
import { isOverflow, Leaf, overflowPageCount } from '../btree/leaf.ts'
import { parseNode, type Node } from '../btree/node.ts'
import { verifyPage } from '../pager/page.ts'
import type { DroppedSubtree } from '../pager/reclaim.ts'
import type { Core } from './core.ts'
import { loadReducer } from '../btree/reducer.ts'

/** Checks the store. Throws PANNIER_CORRUPT for the first thing that is wrong. Not while a storage checkpoint runs. */
export async function checkStore(core: Core, work?: RunningWork): Promise<void> {
  const { store } = core.options
  const { state } = core
  const total = state.trees.reduce((sum, tree) => sum + (tree?.tree?.bytes ?? 0), 0)
  let done = 0
  const used = new Map<PageId, string>()
  const useAs = (owner: string) => (id: PageId) => {
    const other = used.get(id)
    if (other !== undefined) throw damaged(`page ${id} belongs to ${other} and to ${owner}`)
    used.set(id, owner)
  }
  const read = async (id: PageId): Promise<Node> => {
    const [bytes] = await store.readPages([id])
    if (bytes === undefined) throw damaged(`page ${id} is missing`)
    verifyPage(id, bytes)
    done += bytes.length
    // The other half is what the pages say.
    work?.report(Math.min(done, total), 2 * total)
    await work?.pause()
    return parseNode(id, bytes)
  }
  for (const tree of state.trees) {
    if (tree === undefined) continue
    const owner = `tree ${tree.name}`
    await checkTree(
      tree.tree,
      read,
      useAs(owner),
      (message) => damaged(`${owner}: ${message}`),
      tree.reducer === undefined ? undefined : await loadReducer(tree.reducer),
    )
  }
  for (const { ids } of state.reclaim.unlinked) ids.forEach(useAs('the reclaim list'))
  const dropped = state.droppedRoots.map(({ id, height, overflow }) => ({ id, level: height - 1, overflow }))
  for (const subtree of [...state.reclaim.dropped, ...dropped]) await useSubtree(subtree, read, useAs('a dropped tree'))
  for (const id of await store.listPages()) {
    // Pages from the next id on were left by a writer that died; the next claim deletes them.
    if (id < state.nextPageId && !used.delete(id)) throw damaged(`page ${id} is used by nothing`)
  }
  for (const [id, owner] of used) throw damaged(`page ${id} of ${owner} is missing`)
}

async function useSubtree(
  { id, level, overflow }: Pick<DroppedSubtree, 'id' | 'level' | 'overflow'>,
  read: (id: PageId) => Promise<Node>,
  use: (id: PageId) => void,
): Promise<void> {
  use(id)
  if (level === 0 && !overflow) return
  const node = await read(id)
  if (node instanceof Branch) {
    for (const child of node.children)
      await useSubtree({ id: child.id, level: level - 1, overflow: child.overflow }, read, use)
  } else if (node instanceof Leaf) {
    for (let i = 0; i < node.count; i++) {
      const value = node.value(i)
      if (isOverflow(value))
        for (let page = 0; page < overflowPageCount(value.length); page++) use((value.first + page) as PageId)
    }
  }
}

function damaged(what: string): PannierError {
  return new PannierError('PANNIER_CORRUPT', `The database is damaged: ${what}.`)
}
