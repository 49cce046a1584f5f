/** Accumulators of aggregates: they take values one by one and return the result. */
import { compareValues, isArrayLike } from '../../codec/collation.ts'
import type { AggregateOperator } from './specification.ts'

export interface Accumulator {
  /** Undefined: the document has no such field. Returns by how many bytes it has grown, about. */
  add(value: unknown): number
  result(): unknown
}

/** Approximate memory of an accumulator. */
export const ACCUMULATOR_BYTES = 64

export function accumulatorOf(operator: AggregateOperator): Accumulator {
  switch (operator) {
    case '$count':
      return new Counter()
    case '$min':
      return new Extreme(-1)
    case '$max':
      return new Extreme(1)
    case '$distinct':
      return new DistinctValues()
    default:
      return new Sum(operator === '$avg')
  }
}

class Counter implements Accumulator {
  count = 0

  add(): number {
    this.count++
    return 0
  }

  result(): number {
    return this.count
  }
}

class Extreme implements Accumulator {
  private readonly direction: number
  private value: unknown

  constructor(direction: number) {
    this.direction = direction
  }

  add(value: unknown): number {
    if (value === undefined || value === null) return 0
    if (this.value !== undefined && compareValues(value, this.value) * this.direction <= 0) return 0
    const before = this.value === undefined ? 0 : bytesOf(this.value)
    this.value = plainValue(value)
    return bytesOf(value) - before
  }

  result(): unknown {
    return this.value
  }
}

/** A sum, compensated (Neumaier): the order in which numbers come makes no difference but, rarely, in the last digit. */
class Sum implements Accumulator {
  private readonly average: boolean
  private count = 0
  private sum = 0
  private lost = 0

  constructor(average: boolean) {
    this.average = average
  }

  add(value: unknown): number {
    if (typeof value !== 'number') return 0
    this.count++
    const sum = this.sum + value
    this.lost += Math.abs(this.sum) >= Math.abs(value) ? this.sum - sum + value : value - sum + this.sum
    this.sum = sum
    return 0
  }

  result(): number | undefined {
    // An overflow has lost nothing that could be shown.
    const sum = Number.isFinite(this.sum) ? this.sum + this.lost : this.sum
    if (!this.average) return sum
    return this.count === 0 ? undefined : sum / this.count
  }
}

const VALUE_BYTES = 100

class DistinctValues implements Accumulator {
  private readonly values = new Map<string, unknown>()

  add(value: unknown): number {
    if (value === undefined) return 0
    const text = identityOf(value)
    if (this.values.has(text)) return 0
    this.values.set(text, plainValue(value))
    return VALUE_BYTES + 2 * text.length + bytesOf(value)
  }

  result(): unknown[] {
    return [...this.values.values()].sort(compareValues)
  }
}

/** Equal for equal values, and for no others. */
export function identityOf(value: unknown): string {
  if (typeof value === 'string') return `'${value}`
  if (typeof value === 'number') return String(value)
  return value === undefined ? '' : JSON.stringify(plainValue(value))
}

/** The same whether it comes from a document or from a key: typed arrays as arrays, and one zero. */
export function plainValue(value: unknown): unknown {
  if (value === 0) return 0
  if (typeof value !== 'object' || value === null) return value
  if (isArrayLike(value)) return Array.from(value, plainValue)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainValue(inner)]))
}

/** The bytes of a value, about. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return 16 + 2 * value.length
  return typeof value === 'object' && value !== null ? 16 + 4 * JSON.stringify(value).length : 8
}
