/**
 * Applies a sorted batch of changes to a tree. Each page that changes is read and written once, whatever the number of
 * changes in it. An empty tree is bulk loaded.
 *
 * Guarantees: the old tree stays whole (copy on write). Counts, bytes and reductions in branches are exact. No leaf is
 * empty, and all leaves have the same depth. Work is done in slices: `io.pause()` is awaited between pages. Relies on:
 * changes are ascending and their deltas are true (an addition was absent, a removal present).
 */
import { firstWhere } from '../base/binary-search.ts'
import { assert } from '../base/errors.ts'
import type { Key, PageId } from '../base/brand.ts'
import { asArray, corruptBytes, type Bytes } from '../codec/bytes.ts'
import { keyNumber } from '../codec/key-encoding.ts'
import { Branch, type Child, addGarbage, liveEntries, liveLowerBound } from './branch.ts'
import { BranchContent, LeafContent, UNDERFULL } from './content.ts'
import { Leaf, INLINE_VALUE_BYTES_MAX, type SizeClass } from './leaf.ts'
import type { Node, Root, Tree } from './node.ts'
import { PagePacker, type PageIo } from './page-packer.ts'
import type { StoredReducer } from './reducer.ts'

/** A sorted batch. A change is a new value, or for a removal the length of the value that goes. */
interface Changes {
  readonly keys: readonly Key[]
  readonly changes: readonly (Bytes | number)[]
  /** 1: the entry is new; 0: it is overwritten; -1: it goes. */
  readonly deltas: readonly (1 | 0 | -1)[]
}

/** Leaves that are loaded together. In sequence trees most changed leaves are not read at all. */
const READ_AHEAD_LEAVES = 24

/** The new tree. `reducer`: the tree's own, always the same. */
export async function applyChanges(
  io: PageIo,
  tree: Tree,
  changes: Changes,
  sizeClass: SizeClass,
  reducer?: StoredReducer<unknown>,
): Promise<Tree> {
  if (changes.keys.length === 0) return tree
  const applier = new Applier(io, changes, sizeClass, reducer)
  if (tree === undefined) {
    return applier.grow(await applier.packer.pack(await applier.load(), 0, '', true), 1)
  }
  const child: Child = { ...tree, separator: '', garbage: undefined, reduction: undefined }
  const replaced = await applier.children([child], tree.height - 1, {
    from: 0,
    to: changes.keys.length,
    rightEdge: true,
    root: true,
  })
  return applier.grow(replaced, tree.height)
}

interface Span {
  readonly from: number
  readonly to: number
  /** Nothing of the tree stands to the right of it. */
  readonly rightEdge: boolean
  readonly root: boolean
}

class Applier {
  readonly packer: PagePacker
  readonly #io: PageIo
  readonly #changes: Changes
  readonly #class: SizeClass

  constructor(io: PageIo, changes: Changes, sizeClass: SizeClass, reducer: StoredReducer<unknown> | undefined) {
    this.#io = io
    this.#changes = changes
    this.#class = sizeClass
    this.packer = new PagePacker(io, sizeClass, reducer)
  }

  /** Puts branches above until one page is left; takes those away that have but one child. */
  async grow(children: readonly Child[], height: number): Promise<Tree> {
    if (children.length === 0) return undefined
    let level = children
    while (level.length > 1) {
      const content = new BranchContent()
      for (const child of level) content.push(child)
      level = await this.packer.pack(content, height++, '', true)
    }
    let root = level[0]!
    while (height > 1) {
      const node = await this.#node(root.id)
      if (!(node instanceof Branch) || node.children.length > 1) break
      // A garbage list can only stand in a branch: a root that is a leaf was written without any (see `children`).
      if (height === 2 && node.children[0]!.garbage !== undefined) break
      this.#io.free(root.id)
      root = node.children[0]!
      height--
    }
    return { id: root.id, height, count: root.count, bytes: root.bytes, overflow: root.overflow } satisfies Root
  }

  /** The content of a tree that was empty. */
  async load(): Promise<LeafContent> {
    const content = new LeafContent()
    await this.merge(undefined, undefined, content, 0, this.#changes.keys.length)
    return content
  }

  /** The children that replace these, which stand at `level`, after the changes of the span. */
  async children(children: readonly Child[], level: number, span: Span): Promise<Child[]> {
    const out: Child[] = []
    const ends = this.#partition(children, span)
    const ahead = new ReadAhead(this.#io, this.#class === 'sequence' ? 1 : READ_AHEAD_LEAVES)
    let pending: LeafContent | BranchContent | undefined
    let pendingSeparator = ''
    for (let i = 0; i < children.length; i++) {
      const child = children[i]!
      const from = i === 0 ? span.from : ends[i - 1]!
      const to = ends[i]!
      const last = i === children.length - 1
      if (pending === undefined) {
        const kept = from === to ? child : level === 0 && !span.root ? this.#markGarbage(child, from, to) : undefined
        if (kept !== undefined) {
          out.push(kept)
          continue
        }
      }
      await ahead.fetch(children, ends, i)
      const content = await this.#content(child, level, { from, to, rightEdge: span.rightEdge && last, root: false })
      const separator = pending === undefined ? child.separator : pendingSeparator
      if (pending !== undefined) join(pending, content)
      const joined: LeafContent | BranchContent = pending ?? content
      pending = undefined
      if (joined.length === 0) continue
      if (!last && joined.size < this.packer.target(level) * UNDERFULL) {
        pending = joined
        pendingSeparator = separator
        continue
      }
      const rightEdge = span.rightEdge && last
      if (joined.size < this.packer.target(level) * UNDERFULL)
        await this.#joinPrevious(out, joined, level, separator, rightEdge)
      else out.push(...(await this.packer.pack(joined, level, separator, rightEdge)))
      await this.packer.pause()
    }
    if (pending !== undefined) await this.#joinPrevious(out, pending, level, pendingSeparator, span.rightEdge)
    ahead.release()
    return out
  }

  /** Merges the live entries of a leaf with changes into content. Frees what the new tree does not use of the leaf. */
  async merge(
    leaf: Leaf | undefined,
    live: Uint16Array | undefined,
    content: LeafContent,
    from: number,
    to: number,
  ): Promise<void> {
    const { keys, changes, deltas } = this.#changes
    const inlineMax = INLINE_VALUE_BYTES_MAX[this.#class]
    const count = leaf === undefined ? 0 : (live?.length ?? leaf.count)
    let at = 0
    const keepTo = (end: number): void => {
      for (; at < end; at++) content.keep(leaf!, live?.[at] ?? at)
    }
    for (let i = from; i < to; i++) {
      const key = keys[i]!
      if (leaf !== undefined) keepTo(liveLowerBound(leaf, live, key))
      const index = at < count ? (live?.[at] ?? at) : -1
      const present = index >= 0 && leaf!.compare(index, key) === 0
      if (present === (deltas[i] === 1)) throw corruptBytes('a change does not fit the entry that it changes')
      if (present) {
        this.packer.freeValue(leaf!.value(index))
        at++
      }
      const change = changes[i]!
      if (typeof change !== 'number')
        content.push(key, change.length > inlineMax ? await this.packer.overflow(asArray(change)) : change)
      if ((i & 1023) === 1023) await this.packer.pause()
    }
    keepTo(count)
  }

  async #content(child: Child, level: number, span: Span): Promise<LeafContent | BranchContent> {
    const node = await this.#node(child.id)
    this.#io.free(child.id)
    if (level === 0) {
      if (!(node instanceof Leaf)) throw corruptBytes(`page ${child.id} is not a leaf`)
      const content = new LeafContent()
      content.overflow = child.overflow
      const live = liveEntries(node, child.garbage)
      this.#freeGarbage(node, child)
      await this.merge(node, live, content, span.from, span.to)
      return content
    }
    if (!(node instanceof Branch)) throw corruptBytes(`page ${child.id} is not a branch`)
    const content = new BranchContent()
    for (const below of await this.children(node.children, level - 1, span)) {
      // Its own page leaves out the first separator; joining this content to another needs it.
      content.push(content.length === 0 ? { ...below, separator: child.separator } : below)
    }
    return content
  }

  /** The child with the removed keys on its garbage list; undefined when the leaf has to be rewritten. */
  #markGarbage(child: Child, from: number, to: number): Child | undefined {
    if (this.#class !== 'sequence') return undefined
    const numbers: number[] = []
    let bytes = 0
    for (let i = from; i < to; i++) {
      const change = this.#changes.changes[i]!
      if (typeof change !== 'number') return undefined
      numbers.push(keyNumber(this.#changes.keys[i]!))
      bytes += change
    }
    const garbage = addGarbage(child.garbage, numbers, bytes)
    if (garbage.bytes * 2 > child.bytes || numbers.length >= child.count) return undefined
    return { ...child, count: child.count - numbers.length, garbage }
  }

  /** Content too small for a page of its own goes to the page before it, if there is room, else it gets its page. */
  async #joinPrevious(
    out: Child[],
    content: LeafContent | BranchContent,
    level: number,
    separator: string,
    rightEdge: boolean,
  ): Promise<void> {
    const previous = out.at(-1)
    if (previous === undefined || (level === 0 && previous.bytes + content.size > this.packer.target(level))) {
      out.push(...(await this.packer.pack(content, level, separator, rightEdge)))
      return
    }
    out.pop()
    const joined = await this.#content(previous, level, { from: 0, to: 0, rightEdge: false, root: false })
    join(joined, content)
    out.push(...(await this.packer.pack(joined, level, previous.separator, rightEdge)))
  }

  #freeGarbage(leaf: Leaf, child: Child): void {
    if (child.garbage === undefined || !child.overflow) return
    const live = new Set(liveEntries(leaf, child.garbage))
    for (let i = 0; i < leaf.count; i++) if (!live.has(i)) this.packer.freeValue(leaf.value(i))
  }

  /** For each child the end of its changes. */
  #partition(children: readonly Child[], span: Span): number[] {
    const { keys } = this.#changes
    const ends: number[] = []
    let at = span.from
    for (let i = 0; i < children.length; i++) {
      const upper = children[i + 1]?.separator
      if (upper === undefined) at = span.to
      else at = firstWhere(at, span.to, (index) => keys[index]! >= upper)
      ends.push(at)
    }
    return ends
  }

  async #node(id: PageId): Promise<Node> {
    const cached = this.#io.peek(id)
    if (cached !== undefined) return cached
    const release = await this.#io.load([id])
    const node = this.#io.peek(id)
    release()
    assert(node !== undefined, 'a loaded page is in memory')
    return node
  }
}

/** Fetches the leaves that will be rewritten some at a time. */
class ReadAhead {
  readonly #io: PageIo
  readonly #leavesMax: number
  #until = 0
  #release: () => void = () => {}

  constructor(io: PageIo, leavesMax: number) {
    this.#io = io
    this.#leavesMax = leavesMax
  }

  async fetch(children: readonly Child[], ends: readonly number[], index: number): Promise<void> {
    if (index < this.#until || this.#io.peek(children[index]!.id) !== undefined) return
    const ids: PageId[] = [children[index]!.id]
    let i = index + 1
    for (; i < children.length && ids.length < this.#leavesMax; i++) {
      if (ends[i]! > ends[i - 1]! && this.#io.peek(children[i]!.id) === undefined) ids.push(children[i]!.id)
    }
    this.#until = i
    this.release()
    this.#release = await this.#io.load(ids)
  }

  release(): void {
    this.#release()
    this.#release = () => {}
  }
}

function join(content: LeafContent | BranchContent, more: LeafContent | BranchContent): void {
  if (content instanceof LeafContent && more instanceof LeafContent) content.append(more)
  else if (content instanceof BranchContent && more instanceof BranchContent) content.append(more)
  else assert(false, 'pages of one level are of one kind')
}
