/**
 * Branch pages: for each child its separator key, its page, and figures about what is below. A branch is parsed whole:
 * there are few branches.
 *
 *     0  header (pager/page.ts), level >= 1
 *     8  for each child: varint length of the separator, the separator,
 *        varint page id, varint entries below, varint (bytes below << 2 | overflow << 1 | garbage),
 *        and if there is garbage: varint bytes of it, varint count, varint key numbers, each less its predecessor
 *
 * The separator of a child is at most its first key, and greater than every key before it. The first child's separator
 * is empty.
 *
 * **Garbage.** In sequence trees, a removed entry stays in its leaf, and the branch lists its key here. So the leaf is
 * neither read nor rewritten. `entries below` does not count it.
 *
 * **Reductions.** In trees with a reducer (reducer.ts), branches have a kind of their own. Each child ends with its
 * reduction:
 *
 *     varint (length of the reduction of the entries below + 1; 0: no reduction is kept), the reduction
 */
import { firstWhere } from '../base/binary-search.ts'
import type { PageId, Key } from '../base/brand.ts'
import { byteStringOf, ByteReader, ByteWriter } from '../codec/bytes.ts'
import { PAGE_HEADER_BYTES, PAGE_REDUCED_BRANCH, PAGE_BRANCH, sealPage } from '../pager/page.ts'
import type { Leaf } from './leaf.ts'
import { keyNumber, numberKey } from '../codec/key-encoding.ts'

/** Removed entries that a leaf still holds: their key numbers, ascending, and the bytes that they waste. */
export interface Garbage {
  readonly numbers: readonly number[]
  readonly bytes: number
}

/** The entry of a branch about a child. */
export interface Child {
  readonly separator: string
  readonly id: PageId
  /** Live entries below. */
  readonly count: number
  /** Bytes of the pages below, overflow and garbage included, of leaves. */
  readonly bytes: number
  /** Whether any value below is in overflow pages. */
  readonly overflow: boolean
  /** Only of leaves in sequence trees. */
  readonly garbage: Garbage | undefined
  /** The reduction of the entries below, as the tree's reducer encodes it; undefined where it is not kept. */
  readonly reduction: Uint8Array | undefined
}

/** Estimate of the memory of one parsed child. */
const CHILD_MEMORY_BYTES = 120

export class Branch {
  readonly id: PageId
  readonly level: number
  readonly children: readonly Child[]
  readonly memoryBytes: number
  /** Entries before each child. */
  readonly #before: Float64Array

  constructor(id: PageId, bytes: Uint8Array) {
    this.id = id
    this.level = bytes[5]!
    this.children = parseChildren(bytes)
    this.memoryBytes = bytes.length + this.children.length * CHILD_MEMORY_BYTES
    this.#before = new Float64Array(this.children.length + 1)
    for (let i = 0; i < this.children.length; i++) this.#before[i + 1] = this.#before[i]! + this.children[i]!.count
  }

  /** Entries before child `index`; with the count of children as index: all. */
  before(index: number): number {
    return this.#before[index]!
  }

  /** The child in whose span the key falls. */
  search(key: string): number {
    return firstWhere(1, this.children.length, (at) => this.children[at]!.separator > key) - 1
  }
}

function parseChildren(bytes: Uint8Array): Child[] {
  const count = bytes[6]! | (bytes[7]! << 8)
  const reduced = bytes[4] === PAGE_REDUCED_BRANCH
  const reader = new ByteReader(bytes, PAGE_HEADER_BYTES)
  const children: Child[] = []
  for (let i = 0; i < count; i++) {
    const separator = byteStringOf(reader, reader.varint())
    const id = reader.varint() as PageId
    const entries = reader.varint()
    const flagged = reader.varint()
    children.push({
      separator,
      id,
      count: entries,
      bytes: Math.floor(flagged / 4),
      overflow: (flagged & 2) !== 0,
      garbage: (flagged & 1) !== 0 ? parseGarbage(reader) : undefined,
      reduction: reduced ? parseReduction(reader) : undefined,
    })
  }
  return children
}

function parseGarbage(reader: ByteReader): Garbage {
  const bytes = reader.varint()
  const count = reader.varint()
  const numbers: number[] = []
  let number = 0
  for (let i = 0; i < count; i++) numbers.push((number += reader.varint()))
  return { numbers, bytes }
}

function parseReduction(reader: ByteReader): Uint8Array | undefined {
  const length = reader.varint()
  return length === 0 ? undefined : reader.raw(length - 1)
}

/** Appends a child to a branch under construction. */
function writeChild(writer: ByteWriter, child: Child, separator: string): void {
  const { garbage } = child
  writer.varint(separator.length)
  writer.byteString(separator)
  writer.varint(child.id)
  writer.varint(child.count)
  writer.varint(child.bytes * 4 + (child.overflow ? 2 : 0) + (garbage !== undefined ? 1 : 0))
  if (garbage === undefined) return
  writer.varint(garbage.bytes)
  writer.varint(garbage.numbers.length)
  let previous = 0
  for (const number of garbage.numbers) {
    writer.varint(number - previous)
    previous = number
  }
}

/**
 * Builds a branch page. Leaves out the first separator, because nothing can be below it. `reduced`: the tree has a
 * reducer.
 */
export function buildBranch(id: PageId, level: number, children: readonly Child[], reduced: boolean): Uint8Array {
  const writer = new ByteWriter(PAGE_HEADER_BYTES + children.length * 40)
  writer.length = PAGE_HEADER_BYTES
  for (let i = 0; i < children.length; i++) {
    const child = children[i]!
    writeChild(writer, child, i === 0 ? '' : child.separator)
    if (!reduced) continue
    writer.varint(child.reduction === undefined ? 0 : child.reduction.length + 1)
    if (child.reduction !== undefined) writer.raw(child.reduction)
  }
  const bytes = writer.finish()
  sealPage(id, bytes, reduced ? PAGE_REDUCED_BRANCH : PAGE_BRANCH, level, children.length)
  return bytes
}

/** How many garbage numbers are lower. */
export function garbageBefore(garbage: Garbage, number: number): number {
  return firstWhere(0, garbage.numbers.length, (at) => garbage.numbers[at]! >= number)
}

export function isGarbage(garbage: Garbage | undefined, key: Key): boolean {
  if (garbage === undefined) return false
  const number = keyNumber(key)
  return garbage.numbers[garbageBefore(garbage, number)] === number
}

/** The entries of a leaf that are not garbage, by index; undefined: all of them. */
export function liveEntries(leaf: Leaf, garbage: Garbage | undefined): Uint16Array | undefined {
  if (garbage === undefined) return undefined
  const live = new Uint16Array(leaf.count - garbage.numbers.length)
  let next = 0
  let from = 0
  for (const number of garbage.numbers) {
    const index = leaf.find(numberKey(number))
    for (let i = from; i < index; i++) live[next++] = i
    from = index + 1
  }
  for (let i = from; i < leaf.count; i++) live[next++] = i
  return live
}

/** Position among the entries that are not garbage (`liveEntries`) of the first one whose key is not lower. */
export function liveLowerBound(leaf: Leaf, live: Uint16Array | undefined, key: string): number {
  const index = leaf.search(key)
  return live === undefined ? index : firstWhere(0, live.length, (at) => live[at]! >= index)
}

/** The garbage with more of it; numbers may come in any order. */
export function addGarbage(garbage: Garbage | undefined, numbers: readonly number[], bytes: number): Garbage {
  const all = garbage === undefined ? [...numbers] : [...garbage.numbers, ...numbers]
  all.sort((a, b) => a - b)
  return { numbers: all, bytes: bytes + (garbage?.bytes ?? 0) }
}
