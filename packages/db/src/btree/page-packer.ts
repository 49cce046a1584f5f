/**
 * Writes content as pages: cuts it, allocates ids, and returns the children by which a branch refers to the pages.
 *
 * Guarantees: counts, bytes and reductions of the children are exact; large values are in overflow pages.
 */
import type { PageId } from '../base/brand.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import { asArray } from '../codec/bytes.ts'
import { type Child, buildBranch } from './branch.ts'
import {
  buildOverflowPage,
  isOverflow,
  overflowPageCount,
  OVERFLOW_PAYLOAD_BYTES,
  type LeafValue,
  BRANCH_BYTES_TARGET,
  LEAF_BYTES_TARGET,
  type SizeClass,
} from './leaf.ts'
import { cutIntoPages, LeafContent, separate, type BranchContent, type Fill } from './content.ts'
import type { Node } from './node.ts'
import { combinedReduction, encodedReduction, type ReducedEntries, type StoredReducer } from './reducer.ts'

/** How pages are reached. */
export interface PageIo {
  /** The page if it is in memory. */
  peek(id: PageId): Node | undefined
  /** Brings pages into memory until the function given is called. */
  load(ids: readonly PageId[]): MaybePromise<() => void>
  /** The first of `count` consecutive new ids. */
  allocate(count: number): PageId
  write(id: PageId, bytes: Uint8Array): MaybePromise<void>
  /** As `write`, of a page of `size` bytes that `build` makes: now or when the page is stored. It always makes the same. */
  writeLate(id: PageId, size: number, build: () => Uint8Array): MaybePromise<void>
  /** The new tree does not use this page any more. */
  free(id: PageId): void
  /** Lets others have the thread when the slice is used up. */
  pause(): MaybePromise<void>
}

/**
 * Content that fills this number of leaves consists mostly of changes, so it takes no extra memory to keep it for a
 * while.
 */
const LATE_LEAVES_MIN = 8

export class PagePacker {
  readonly #io: PageIo
  readonly #class: SizeClass
  readonly #reducer: StoredReducer<unknown> | undefined

  constructor(io: PageIo, sizeClass: SizeClass, reducer: StoredReducer<unknown> | undefined) {
    this.#io = io
    this.#class = sizeClass
    this.#reducer = reducer
  }

  /** Writes content as pages of that level; `separator` is the lower bound of the first one. */
  async pack(
    content: LeafContent | BranchContent,
    level: number,
    separator: string,
    rightEdge: boolean,
  ): Promise<Child[]> {
    const out: Child[] = []
    let from = 0
    const ends = cutIntoPages(content, this.target(level), this.#fill(rightEdge))
    for (const to of ends) {
      const id = this.#io.allocate(1)
      if (content instanceof LeafContent) {
        const bound = from === 0 ? separator : separate(content.key(from - 1), content.key(from))
        out.push(await this.#writeLeaf(id, content, from, to, bound, ends.length >= LATE_LEAVES_MIN))
      } else {
        const bound = from === 0 ? separator : content.children[from]!.separator
        const children = content.children.slice(from, to)
        await this.#write(id, buildBranch(id, level, children, this.#reducer !== undefined))
        const reduction = this.#reducer && combinedReduction(this.#reducer, children)
        out.push({ separator: bound, id, ...totals(children), garbage: undefined, reduction })
      }
      from = to
      await this.pause()
    }
    return out
  }

  async #writeLeaf(
    id: PageId,
    content: LeafContent,
    from: number,
    to: number,
    separator: string,
    late: boolean,
  ): Promise<Child> {
    const size = content.leafBytes(from, to)
    let bytes = size
    let overflow = false
    for (let i = from; content.overflow && i < to; i++) {
      const value = content.value(i)
      if (!isOverflow(value)) continue
      bytes += value.length
      overflow = true
    }
    const build = (): Uint8Array => content.build(id, from, to)
    const written = late ? this.#io.writeLate(id, size, build) : this.#io.write(id, build())
    if (isPromise(written)) await written
    const reduction = this.#reducer && encodedReduction(this.#reducer, contentEntries(content, from, to))
    return { separator, id, count: to - from, bytes, overflow, garbage: undefined, reduction }
  }

  /** Large values go to overflow pages. */
  async overflow(value: Uint8Array): Promise<LeafValue> {
    const pages = overflowPageCount(value.length)
    const first = this.#io.allocate(pages)
    for (let i = 0; i < pages; i++) {
      const id = (first + i) as PageId
      const start = i * OVERFLOW_PAYLOAD_BYTES
      await this.#write(id, buildOverflowPage(id, value.subarray(start, start + OVERFLOW_PAYLOAD_BYTES)))
    }
    return { length: value.length, first }
  }

  freeValue(value: LeafValue): void {
    if (!isOverflow(value)) return
    const pages = overflowPageCount(value.length)
    for (let i = 0; i < pages; i++) this.#io.free((value.first + i) as PageId)
  }

  target(level: number): number {
    return level === 0 ? LEAF_BYTES_TARGET[this.#class] : BRANCH_BYTES_TARGET
  }

  #fill(rightEdge: boolean): Fill {
    if (!rightEdge) return 'even'
    return this.#class === 'sequence' ? 'full' : 'roomy'
  }

  async #write(id: PageId, bytes: Uint8Array): Promise<void> {
    const written = this.#io.write(id, bytes)
    if (isPromise(written)) await written
  }

  async pause(): Promise<void> {
    const paused = this.#io.pause()
    if (isPromise(paused)) await paused
  }
}

/** Values that overflow are not at hand. */
function contentEntries(content: LeafContent, from: number, to: number): ReducedEntries {
  return {
    count: to - from,
    key: (index) => content.key(from + index),
    value: (index) => {
      const value = content.value(from + index)
      return isOverflow(value) ? undefined : asArray(value)
    },
  }
}

function totals(children: readonly Child[]): { count: number; bytes: number; overflow: boolean } {
  let count = 0
  let bytes = 0
  let overflow = false
  for (const child of children) {
    count += child.count
    bytes += child.bytes
    overflow ||= child.overflow
  }
  return { count, bytes, overflow }
}
