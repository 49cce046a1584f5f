/**
 * The order of a collection by fields that no index has, for pages of it. Rows stand in short blocks, so that a write moves few of
 * them. Rows with equal keys are in the order of their documents' numbers, as a sort gives them.
 */
import { firstWhere } from '../../base/binary-search.ts'
import type { Collation } from '../../codec/registered-collation.ts'
import type { BodyView } from '../../document/body.ts'
import { bodyFields } from '../operators/project.ts'
import { compileSortKey } from '../operators/sort.ts'
import type { SortField } from '../planner/plan.ts'
import type { QuerySource } from '../query-source.ts'
import { NumberSetBuilder, type NumberSet } from '../sets/number-set.ts'
import type { CollectionRows } from './collection-rows.ts'
import { Follower } from './follower.ts'

/** Rows of one block; a block with more is cut in two. */
const BLOCK_ROWS_MAX = 512
/** In memory, of one row beside the characters of its key (measured: 63). */
const ROW_BYTES = 64

export class OrderColumn extends Follower<(body: BodyView) => string> {
  readonly rows: CollectionRows
  readonly #sort: readonly SortField[]
  readonly #collation: Collation | undefined
  readonly #bytesMax: number
  /** By row; undefined: no document lives there. */
  readonly #keys: (string | undefined)[] = []
  /** Rows in order. No block is empty. */
  readonly #blocks: number[][] = []
  /** The bytes of memory that it takes, about. */
  bytes = 0

  constructor(rows: CollectionRows, sort: readonly SortField[], collation: Collation | undefined, bytesMax: number) {
    super(0)
    this.rows = rows
    this.#sort = sort
    this.#collation = collation
    this.#bytesMax = bytesMax
  }

  /** Whether it takes more than its part of the memory: it must not be used any more. */
  get isFull(): boolean {
    return this.bytes > this.#bytesMax
  }

  /** As that of its rows, which have reached the source. */
  reach(source: QuerySource, check: () => void): Promise<boolean> {
    return this.followTo(source, compileSortKey(this.#sort, bodyFields(source.documents), this.#collation), check)
  }

  /** The documents of a page. The column has reached the source. */
  page(skip: number, limit: number): NumberSet {
    const page = new NumberSetBuilder()
    let first = skip
    let left = limit
    for (const block of this.#blocks) {
      for (let at = first; at < block.length && left > 0; at++, left--) page.add(this.rows.numberOf(block[at]!))
      first = Math.max(0, first - block.length)
      if (left === 0) break
    }
    return page.build()
  }

  protected override follow(body: BodyView, keyOf: (body: BodyView) => string): void {
    const row = this.rows.rowOf(body.number)
    if (row === -1) return
    const old = this.#keys[row]
    const key = body.deleted ? undefined : keyOf(body)
    if (key === old) return
    if (old !== undefined) this.#remove(old, row)
    if (key !== undefined) this.#insert(key, row)
    this.#keys[row] = key
  }

  #insert(key: string, row: number): void {
    this.bytes += ROW_BYTES + key.length
    if (this.#blocks.length === 0) this.#blocks.push([])
    const at = this.#blockOf(key, row)
    const block = this.#blocks[at]!
    block.splice(this.#placeIn(block, key, row), 0, row)
    if (block.length > BLOCK_ROWS_MAX) this.#blocks.splice(at + 1, 0, block.splice(BLOCK_ROWS_MAX / 2))
  }

  #remove(key: string, row: number): void {
    this.bytes -= ROW_BYTES + key.length
    const at = this.#blockOf(key, row)
    const block = this.#blocks[at]!
    block.splice(this.#placeIn(block, key, row), 1)
    if (block.length === 0) this.#blocks.splice(at, 1)
  }

  /** The last block that does not begin behind this place. */
  #blockOf(key: string, row: number): number {
    const blocks = this.#blocks
    return firstWhere(1, blocks.length, (at) => !this.#isBefore(blocks[at]![0]!, key, row + 1)) - 1
  }

  #placeIn(block: readonly number[], key: string, row: number): number {
    return firstWhere(0, block.length, (at) => !this.#isBefore(block[at]!, key, row))
  }

  #isBefore(other: number, key: string, row: number): boolean {
    const otherKey = this.#keys[other]!
    return otherKey < key || (otherKey === key && other < row)
  }
}
