/**
 * The values of a field that has few of them, alone or in arrays: a bit for each value. So conditions on all elements
 * of an array are one comparison a row.
 */
import { isArrayLike } from '../../codec/collation.ts'
import type { BodyView } from '../../document/body.ts'
import type { ReadField } from '../match.ts'
import { bodyFields } from '../operators/project.ts'
import type { QuerySource } from '../query-source.ts'
import type { NumberSet } from '../sets/number-set.ts'
import type { CollectionRows } from './collection-rows.ts'
import { Follower } from './follower.ts'
import { GrowingArray } from './growing-array.ts'

/** Different values; with more there is no column. */
const VALUES_MAX = 30
const IS_ARRAY = 1 << VALUES_MAX
const IS_THERE = 1 << (VALUES_MAX + 1)

export class SelectColumn extends Follower {
  readonly rows: CollectionRows
  readonly #path: string
  readonly #bits: GrowingArray<Int32Array>
  /** By bit. */
  readonly #values: unknown[] = []
  readonly #bitOf = new Map<unknown, number>()
  #read!: ReadField<BodyView>
  #readBy: unknown
  /** There is a value that has no bit: the column must not be used any more. */
  isFull = false

  constructor(rows: CollectionRows, path: string) {
    super(0)
    this.rows = rows
    this.#path = path
    this.#bits = new GrowingArray(new Int32Array(rows.length))
  }

  /** Memory. */
  get bytes(): number {
    return this.#bits.bytes
  }

  override async reach(source: QuerySource, check: () => void): Promise<boolean> {
    const { shapes } = source.documents.collection
    if (this.#readBy !== shapes) {
      this.#readBy = shapes
      this.#read = bodyFields(source.documents)(this.#path)
    }
    return !this.isFull && (await super.reach(source, check)) && !this.isFull
  }

  /**
   * The documents whose value meets a test: undefined where it is missing, an array with each of its elements once, in
   * any order. Each combination is tested once. The column has reached the source.
   */
  where(test: (value: unknown) => boolean): NumberSet {
    const known = new Map<number, boolean>()
    const bits = this.#bits.values
    return this.rows.where((row) => {
      const own = bits[row]!
      let passes = known.get(own)
      if (passes === undefined) known.set(own, (passes = test(this.#valueOf(own))))
      return passes
    })
  }

  protected override follow(body: BodyView): void {
    const row = this.rows.rowOf(body.number)
    if (row === -1) return
    this.#bits.extend(this.rows.length)
    this.#bits.values[row] = body.deleted ? 0 : this.#bitsFor(this.#read(body))
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
    if ((typeof value === 'object' && value !== null) || this.#values.length === VALUES_MAX) {
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
