/**
 * Aggregates that an index answers without a walk. The smallest and largest value are its first and last entry. Each
 * group takes one seek and one count. Used only if all entries of the index are rows, one for each document.
 */
import type { Key } from '../../base/brand.ts'
import { prefixUpperBound, decodeKey } from '../../codec/key-encoding.ts'
import { encodeIndexValue } from '../../index/index-key.ts'
import type { Cursor, KeyRange, TreeReader } from '../../kv/key-value-store.ts'
import { isAlways } from '../ast/normalise.ts'
import { above } from '../ast/value-set.ts'
import type { AccessPath } from '../planner/access-path.ts'
import { entryRange } from '../planner/key-ranges.ts'
import type { Plan } from '../planner/plan.ts'
import type { AggregateStep } from './specification.ts'

/** Thrown where keys hold only the beginning of a value, so that documents have to be asked. */
export class InexactKey extends Error {}

/** Groups that are smaller are walked and not counted. */
const GROUP_WALKED_MAX = 16

/** Ranges of an index whose entries are the rows. */
export class IndexRows {
  readonly access: AccessPath
  readonly #tree: TreeReader
  /** The keys of all rows begin with it: the values of the fixed fields. */
  readonly prefix: string
  readonly #constants: readonly unknown[]

  constructor(access: AccessPath, tree: TreeReader) {
    this.access = access
    this.#tree = tree
    this.#constants = access.bounds.slice(0, access.fixed).map(({ values }) => values[0]!.value)
    this.prefix = this.#constants.map((value, at) => encodeIndexValue(value, access.fields[at]!.descending)).join('')
  }

  static canServe({ access, residual }: Plan): boolean {
    const { collation } = access
    return (
      access.kind === 'index' &&
      collation === undefined &&
      access.fields.length > 0 &&
      access.distinct &&
      isAlways(residual)
    )
  }

  get indexName(): string {
    return this.access.index!.name
  }

  /** Whether `$min`, `$max` of the field is at the ends of the rows, or of each group by `groupPaths`. */
  hasEnds(path: string, groupPaths: readonly string[]): boolean {
    const { fields, fixed } = this.access
    const constant = fields.slice(0, fixed).some((field) => field.path === path)
    return constant || groupPaths.includes(path) || fields[fixed + this.#grouped(groupPaths).length]?.path === path
  }

  /** Whether the rows of each group are next to one another. */
  hasGroups(groupPaths: readonly string[]): boolean {
    const grouped = this.#grouped(groupPaths)
    const { fields, fixed } = this.access
    const next = fields.slice(fixed, fixed + grouped.length)
    return next.length === grouped.length && next.every(({ path }) => grouped.includes(path))
  }

  /** Whether groups come in their order, the lowest first. */
  givesInOrder(groupPaths: readonly string[]): boolean {
    const { fields, fixed } = this.access
    return this.#grouped(groupPaths).every((path, at) => {
      const field = fields[fixed + at]
      return field?.path === path && !field.descending
    })
  }

  /** The lowest or highest value of all rows. May miss. */
  end(path: string, largest: boolean): unknown {
    const { fields, fixed, ranges, rows } = this.access
    const at = fields.slice(0, fixed).findIndex((field) => field.path === path)
    if (at >= 0) return rows === 0 ? undefined : (this.#constants[at] ?? undefined)
    const { descending } = fields[fixed]!
    const fromEnd = largest !== descending
    for (const range of fromEnd ? ranges.toReversed() : ranges) {
      const value = endValue(this.#tree, range, this.prefix, descending, fromEnd)
      if (value !== undefined) return value
    }
    return undefined
  }

  groups(groupPaths: readonly string[], steps: readonly AggregateStep[]): GroupScan {
    return new GroupScan(this.#tree, this, groupPaths, this.#grouped(groupPaths).length, steps)
  }

  /** The value of a field that is the same in all rows. */
  constant(path: string): { readonly value: unknown } | undefined {
    const at = this.access.fields.slice(0, this.access.fixed).findIndex((field) => field.path === path)
    return at < 0 ? undefined : { value: this.#constants[at] }
  }

  /** The paths that are not the same in all rows. */
  #grouped(groupPaths: readonly string[]): readonly string[] {
    return groupPaths.filter((path) => this.constant(path) === undefined)
  }
}

/** There are no more entries in the range. */
const RANGE_END: unique symbol = Symbol('end')

export interface IndexGroup {
  /** Aligned with the paths. */
  readonly values: readonly unknown[]
  /** The results, aligned with the steps. */
  readonly results: readonly unknown[]
}

/** Walks from group to group in the order of the index. */
class GroupScan {
  readonly #tree: TreeReader
  readonly #rows: IndexRows
  readonly #groupPaths: readonly string[]
  readonly #groupFields: number
  readonly #steps: readonly AggregateStep[]
  #at = 0
  #cursor: Cursor | undefined
  /** The first key of the group that the cursor is in. */
  #first: Key | undefined
  /** Entries after it that are known to be in the group. */
  #walked = 0
  /** The key after the group, as far as that is known. */
  #next: Key | typeof RANGE_END | undefined

  constructor(
    tree: TreeReader,
    rows: IndexRows,
    groupPaths: readonly string[],
    groupFields: number,
    steps: readonly AggregateStep[],
  ) {
    this.#tree = tree
    this.#rows = rows
    this.#groupPaths = groupPaths
    this.#groupFields = groupFields
    this.#steps = steps
  }

  /** The next group, or a part of it: another range may have more. Undefined at the end. May miss; then it is called again. */
  next(): IndexGroup | undefined {
    const { ranges } = this.#rows.access
    while (this.#at < ranges.length) {
      const range = ranges[this.#at]!
      if (this.#first === undefined) {
        this.#cursor ??= this.#tree.cursor(range)
        if (this.#cursor.next()) this.#first = this.#cursor.key
        else this.#continueAt(RANGE_END)
      }
      if (this.#first !== undefined) return this.#group(range, this.#first)
    }
    return undefined
  }

  #group(range: KeyRange, first: Key): IndexGroup {
    const { values, end } = this.#decode(first)
    const prefix = first.slice(0, end)
    while (this.#next === undefined && this.#walked < GROUP_WALKED_MAX) {
      if (!this.#cursor!.next()) this.#next = RANGE_END
      else if (this.#cursor!.key.startsWith(prefix)) this.#walked++
      else this.#next = this.#cursor!.key
    }
    const { lt } = intersectRanges(range, { lt: prefixUpperBound(prefix) })
    const group = { gte: first, lt }
    const count = this.#next === undefined ? this.#tree.count(group) : this.#walked + 1
    const results = this.#steps.map((step) => this.#result(step, values, prefix, group, count))
    // Nothing misses from here on.
    if (this.#next !== undefined) this.#continueAt(this.#next)
    else if (lt === range.lt) this.#continueAt(RANGE_END)
    else {
      this.#continueAt(undefined)
      this.#cursor = this.#tree.cursor({ gte: lt, lt: range.lt })
    }
    return { values, results }
  }

  #continueAt(next: Key | typeof RANGE_END | undefined): void {
    this.#next = undefined
    this.#walked = 0
    this.#first = next === RANGE_END ? undefined : next
    if (next !== RANGE_END) return
    this.#at++
    this.#cursor = undefined
  }

  #result(step: AggregateStep, values: readonly unknown[], prefix: string, range: KeyRange, count: number): unknown {
    const { operator, path } = step
    if (operator === '$count') return count
    const at = this.#groupPaths.indexOf(path)
    if (at >= 0) return values[at] ?? undefined
    const constant = this.#rows.constant(path)
    if (constant !== undefined) return constant.value ?? undefined
    const { fields, fixed } = this.#rows.access
    const { descending } = fields[fixed + this.#groupFields]!
    return endValue(this.#tree, range, prefix, descending, (operator === '$max') !== descending)
  }

  #decode(key: Key): { readonly values: readonly unknown[]; readonly end: number } {
    const { fields, fixed } = this.#rows.access
    const byPath = new Map<string, unknown>()
    let end = this.#rows.prefix.length
    for (const { path, descending } of fields.slice(fixed, fixed + this.#groupFields)) {
      const { value, next, exact } = decodeKey(key, end, descending)
      if (!exact) throw new InexactKey()
      byPath.set(path, value)
      end = next
    }
    const values = this.#groupPaths.map((path) => {
      const constant = this.#rows.constant(path)
      return constant === undefined ? byPath.get(path) : constant.value
    })
    return { values, end }
  }
}

/** The first or last value in the field after `prefix` that is there and not null. */
function endValue(tree: TreeReader, range: KeyRange, prefix: string, descending: boolean, fromEnd: boolean): unknown {
  const values = entryRange(prefix, [above(null), undefined], descending)
  const cursor = tree.cursor(intersectRanges(range, values), { reverse: fromEnd })
  if (!cursor.next()) return undefined
  const { value, exact } = decodeKey(cursor.key, prefix.length, descending)
  if (!exact) throw new InexactKey()
  return value
}

function intersectRanges(left: KeyRange, right: KeyRange): KeyRange {
  const gte = left.gte === undefined || (right.gte !== undefined && right.gte > left.gte) ? right.gte : left.gte
  const lt = left.lt === undefined || (right.lt !== undefined && right.lt < left.lt) ? right.lt : left.lt
  // No range may end before it starts.
  return gte !== undefined && lt !== undefined && lt < gte ? { gte, lt: gte } : { gte, lt }
}
