/**
 * The values of a field that has few of them, alone or in arrays: a bit for each value. So conditions on all elements
 * of an array are one comparison a row.
 */
import { isArrayLike } from '../../codec/collation.ts'
import type { BodyView } from '../../document/body.ts'
import { elementsOf } from '../../index/index-key.ts'
import type { ReadField } from '../match.ts'
import { bodyFields } from '../operators/project.ts'
import type { QuerySource } from '../query-source.ts'
import type { NumberSet } from '../sets/number-set.ts'
import type { CollectionRows } from './collection-rows.ts'
import { Follower } from './follower.ts'
import { GrowingArray } from './growing-array.ts'

/** Different values; with more there is no column. */
const VALUES_MAX = 30
/** Documents that tell beforehand whether there are more. */
const PROBED_DOCUMENTS = 512
/** Different combinations of them; a query tests each. */
const COMBINATIONS_MAX = 4096
const IS_ARRAY = 1 << VALUES_MAX
const IS_THERE = 1 << (VALUES_MAX + 1)

export class SelectColumn extends Follower<ReadField<BodyView>> {
  readonly rows: CollectionRows
  readonly #path: string
  /** By row, the place of its combination of values. */
  readonly #places: GrowingArray<Int32Array>
  /** The values of each, as bits. */
  readonly #combinations: number[] = [0]
  readonly #placeOf = new Map<number, number>([[0, 0]])
  /** By bit. */
  readonly #values: unknown[] = []
  readonly #bitOf = new Map<unknown, number>()
  /** There is a value that has no bit: the column must not be used any more. */
  isFull = false

  constructor(rows: CollectionRows, path: string) {
    super(0)
    this.rows = rows
    this.#path = path
    this.#places = new GrowingArray(new Int32Array(rows.length))
  }

  /** Whether the first documents have few values there. May miss. */
  static canHold({ documents }: QuerySource, path: string): boolean {
    const read = bodyFields(documents)(path)
    const values = new Set<unknown>()
    const cursor = documents.scan()
    for (let looked = 0; looked < PROBED_DOCUMENTS && cursor.next(); looked++)
      for (const value of elementsOf(read(cursor.body))) if (value !== undefined) values.add(value)
    return values.size <= VALUES_MAX && [...values].every(hasBit)
  }

  /** The bytes of memory. */
  get bytes(): number {
    return this.#places.bytes
  }

  /** As that of its rows, which have reached the source. */
  reach(source: QuerySource, check: () => void): Promise<boolean> {
    return this.followTo(source, bodyFields(source.documents)(this.#path), check)
  }

  /**
   * The documents whose value meets a test: undefined where it is missing, an array with each of its elements once, in
   * any order. Each combination is tested once. The column has reached the source.
   */
  where(test: (value: unknown) => boolean): NumberSet {
    const passes = Uint8Array.from(this.#combinations, (bits) => Number(test(this.#valueOf(bits))))
    const marks = this.rows.livingMarks()
    const places = this.#places.values
    for (let row = 0; row < marks.length; row++) marks[row]! &= passes[places[row]!]!
    return this.rows.marked(marks)
  }

  protected override follow(body: BodyView, read: ReadField<BodyView>): void {
    const row = this.rows.rowOf(body.number)
    if (row === -1) return
    this.#places.extend(this.rows.length)
    this.#places.values[row] = body.deleted ? 0 : this.#placeFor(this.#bitsFor(read(body)))
  }

  #placeFor(bits: number): number {
    const known = this.#placeOf.get(bits)
    if (known !== undefined) return known
    if (this.#combinations.length === COMBINATIONS_MAX) this.isFull = true
    else this.#placeOf.set(bits, this.#combinations.push(bits) - 1)
    return this.#combinations.length - 1
  }

  #bitsFor(value: unknown): number {
    if (value === undefined) return 0
    if (!isArrayLike(value)) return IS_THERE | this.#bitFor(value)
    let bits = IS_THERE | IS_ARRAY
    for (let at = 0; at < value.length; at++) bits |= this.#bitFor(value[at])
    return bits
  }

  #bitFor(value: unknown): number {
    const known = this.#bitOf.get(value)
    if (known !== undefined) return known
    if (!hasBit(value) || this.#values.length === VALUES_MAX) {
      this.isFull = true
      return 0
    }
    const bit = 1 << this.#values.length
    this.#values.push(value)
    this.#bitOf.set(value, bit)
    return bit
  }

  #valueOf(bits: number): unknown {
    if ((bits & IS_THERE) === 0) return undefined
    const values = this.#values.filter((_, at) => (bits & (1 << at)) !== 0)
    return (bits & IS_ARRAY) === 0 ? values[0] : values
  }
}

/** Arrays and objects are not compared here. */
function hasBit(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
