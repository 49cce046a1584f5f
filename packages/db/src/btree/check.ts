/**
 * The integrity check of a tree: key order, separator bounds, equal depth, and the counts, bytes, reductions and
 * garbage lists in branches. Returns every page that the tree uses.
 */
import type { PageId } from '../base/brand.ts'
import type { MaybePromise } from '../base/async.ts'
import { sameBytes } from '../codec/bytes.ts'
import { keyNumber } from '../codec/key-encoding.ts'
import { Branch, type Child, liveEntries } from './branch.ts'
import { isOverflow, Leaf, overflowPageCount } from './leaf.ts'
import type { Node, Tree } from './node.ts'
import { combinedReduction, encodedReduction, type StoredReducer } from './reducer.ts'

/** Reads one page for the check, past the cache's bound if need be. */
type ReadNode = (id: PageId) => MaybePromise<Node>

/** Throws `fail(message)` for the first thing that is wrong; calls `use` for each page of the tree. */
export async function checkTree(
  tree: Tree,
  read: ReadNode,
  use: (id: PageId) => void,
  fail: (message: string) => Error,
  reducer?: StoredReducer<unknown>,
): Promise<void> {
  if (tree === undefined) return
  const child: Child = { ...tree, separator: '', garbage: undefined, reduction: undefined }
  await checkNode({ child, level: tree.height - 1, lower: '', upper: undefined, read, use, fail, reducer })
}

interface Visit {
  readonly child: Child
  readonly level: number
  readonly lower: string
  readonly upper: string | undefined
  readonly read: ReadNode
  readonly use: (id: PageId) => void
  readonly fail: (message: string) => Error
  readonly reducer: StoredReducer<unknown> | undefined
}

async function checkNode(visit: Visit): Promise<void> {
  const { child, level, fail } = visit
  visit.use(child.id)
  const node = await visit.read(child.id)
  if (node.level !== level) throw fail(`page ${child.id} has level ${node.level} where ${level} is expected`)
  if (node instanceof Leaf) checkLeaf(visit, node)
  else if (node instanceof Branch) await checkBranch(visit, node)
  else throw fail(`page ${child.id} is an overflow page inside a tree`)
}

async function checkBranch(visit: Visit, branch: Branch): Promise<void> {
  const { child, fail } = visit
  if (child.garbage !== undefined) throw fail(`branch ${child.id} has a garbage list`)
  let count = 0
  let bytes = 0
  let overflow = false
  for (let i = 0; i < branch.children.length; i++) {
    const below = branch.children[i]!
    const lower = i === 0 ? visit.lower : below.separator
    const upper = branch.children[i + 1]?.separator ?? visit.upper
    if (i > 0 && (lower <= visit.lower || (upper !== undefined && lower >= upper))) {
      throw fail(`branch ${child.id} has its separators out of order`)
    }
    await checkNode({ ...visit, child: below, level: visit.level - 1, lower, upper })
    if (!sameBytes(below.reduction, await reductionOf(visit, below.id))) {
      throw fail(`the reduction of page ${below.id} is not that of its entries`)
    }
    count += below.count
    bytes += below.bytes
    overflow ||= below.overflow
  }
  if (branch.children.length === 0) throw fail(`branch ${child.id} is empty`)
  if (count !== child.count || bytes !== child.bytes || overflow !== child.overflow) {
    throw fail(
      `branch ${child.id} holds ${count} entries in ${bytes} bytes, its parent says ${child.count} in ${child.bytes}`,
    )
  }
}

/** The reduction that the branch above must have for a page. */
async function reductionOf({ reducer, read }: Visit, id: PageId): Promise<Uint8Array | undefined> {
  if (reducer === undefined) return undefined
  const node = await read(id)
  if (node instanceof Branch) return combinedReduction(reducer, node.children)
  const leaf = node as Leaf
  const value = (index: number): Uint8Array | undefined => {
    const found = leaf.value(index)
    return isOverflow(found) ? undefined : found
  }
  return encodedReduction(reducer, { count: leaf.count, key: (index) => leaf.key(index), value })
}

function checkLeaf(visit: Visit, leaf: Leaf): void {
  const { child, fail } = visit
  let previous: string | undefined
  let bytes = leaf.bytes.length
  let overflow = false
  const numbers: number[] = []
  for (let i = 0; i < leaf.count; i++) {
    const key = leaf.key(i)
    if (previous !== undefined && previous >= key) throw fail(`leaf ${leaf.id} has its keys out of order`)
    if (key < visit.lower || (visit.upper !== undefined && key >= visit.upper)) {
      throw fail(`leaf ${leaf.id} holds a key outside its span`)
    }
    previous = key
    const value = leaf.value(i)
    if (child.garbage !== undefined) numbers.push(keyNumber(key))
    if (!isOverflow(value)) continue
    overflow = true
    bytes += value.length
    for (let page = 0; page < overflowPageCount(value.length); page++) visit.use((value.first + page) as PageId)
  }
  if (leaf.count === 0) throw fail(`leaf ${leaf.id} is empty`)
  const held = new Set(numbers)
  if (child.garbage !== undefined && !child.garbage.numbers.every((number) => held.has(number))) {
    throw fail(`leaf ${leaf.id} does not hold what its garbage list names`)
  }
  const live = liveEntries(leaf, child.garbage)?.length ?? leaf.count
  if (live !== child.count || bytes !== child.bytes || overflow !== child.overflow) {
    throw fail(
      `leaf ${leaf.id} holds ${live} entries in ${bytes} bytes, its parent says ${child.count} in ${child.bytes}`,
    )
  }
}
