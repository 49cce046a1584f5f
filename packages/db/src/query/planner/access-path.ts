/**
 * The access paths of a query: ranges of ids, ranges of an index, a union or intersection of such, or all documents.
 * Each knows from exact counts of the trees how many entries it walks.
 */
import { lazyModule } from '../../base/lazy-module.ts'
import { Miss, together } from '../../base/miss.ts'
import type { IndexDefinition } from '../../document/catalog.ts'
import { encodeIndexValue } from '../../index/index-key.ts'
import type { KeyRange } from '../../kv/key-value-store.ts'
import {
  ARRAYS,
  intersectAll,
  intervalsOf,
  isOnePoint,
  isPoints,
  type Interval,
  type ValueSet,
} from '../ast/value-set.ts'
import { combine, conjuncts, ordersText, type Condition, type WithinCondition } from '../ast/normalise.ts'
import type { PlanSource } from '../query-source.ts'
import type { NumberSet } from '../sets/number-set.ts'
import { indexCondition } from '../selector-test.ts'
import { creationRange, entryRange, hasExactKeys, idRanges, mergeRanges } from './key-ranges.ts'
import type { SkipScanLimits } from './skip-scan.ts'

/** Needed where there are partial indexes. */
const implication = lazyModule(() => import('./implication.ts'))

/** Needed for a field behind one that varies, in large indexes. */
const skipScan = lazyModule(() => import('./skip-scan.ts'))
/** About a leaf page of entries: so a skip scan reads no more pages than a walk. */
export const SKIP_SCAN_LIMITS: SkipScanLimits = { entriesMin: 512, valuesMax: 256 }

export interface AccessPath {
  readonly kind: 'scan' | 'ids' | 'index' | 'numbers' | 'missing' | 'set' | 'union' | 'intersection' | 'complement'
  /** For the kind 'index'. */
  readonly index?: IndexDefinition
  /** For the kind 'numbers'. */
  readonly numbers?: NumberSet
  /** The fields whose columns gave it, and the words of searches. */
  readonly columns?: readonly string[]
  readonly searches?: readonly string[]
  /** Ascending and disjoint; of kinds 'ids' and 'index'. */
  readonly ranges: readonly KeyRange[]
  /** For each range the entries in it. */
  readonly counts: readonly number[]
  /**
   * No part scans. The first part of an intersection gives the rows and their order; the others must have them too. A
   * complement has all documents that its part lacks, and stands only in an intersection. The part of 'missing' is the
   * entries without a value: its documents lack the field, the others have an empty array. A 'set' has the documents of
   * its part, in the order of their numbers.
   */
  readonly branches: readonly AccessPath[]
  /** Entries in all: at least the number of documents. */
  readonly rows: number
  /** How many documents are expected: `rows`, or less for an intersection, whose branches are taken for independent. */
  readonly expected: number
  /** How many entries are walked for the set of the documents, and for their number alone. */
  readonly toCollect: number
  readonly toCount: number
  /** No document comes up twice; of a union: in no two parts. */
  readonly distinct: boolean
  /** The conditions that every row meets, so that they need not be tested. */
  readonly met: ReadonlySet<Condition>
  /**
   * The order of the entries: the fields that they hold, then the order of creation. None if entries for different elements of one array
   * come up.
   */
  readonly fields: readonly { readonly path: string; readonly descending: boolean }[]
  /** By which order of strings they are sorted; undefined: by code point. */
  readonly collation?: string | undefined
  /** The number of fields with one and the same value in all rows. */
  readonly fixed: number
  /** The values of the ranges, for explain. */
  readonly bounds: readonly { readonly path: string; readonly values: ValueSet }[]
}

/**
 * Ranges of keys in one path, because points of several fields multiply. Beyond it there is one range from the first
 * value to the last, which is tested as a whole. The alternatives of a union share the limit.
 */
const KEY_RANGES_MAX = 10_000
/** The number of narrowest paths that are intersected with every other. */
const INTERSECTED_PATHS_MAX = 3

/** In a sort: the order of creation, which is that of the documents' numbers. */
export const CREATED = '$created'
export const BY_CREATION: AccessPath['fields'] = [{ path: CREATED, descending: false }]

/** Further paths, for what index scans do not serve (set-paths.ts). `known`: what rows meet, the condition included. */
export type MorePaths = (
  source: PlanSource,
  condition: Condition,
  known: Condition,
  rangesMax: number,
) => readonly AccessPath[]

/** As `pathsOfAllKinds`, of the kinds that are here and in `morePaths`. */
export function accessPaths(
  source: PlanSource,
  condition: Condition,
  skipLimits: SkipScanLimits = SKIP_SCAN_LIMITS,
  morePaths?: MorePaths,
): AccessPath[] {
  const count = source.documents.count()
  const narrowed = keyedPaths(source, condition, ALWAYS, KEY_RANGES_MAX, morePaths)
  const keyed = [...narrowed, ...skipScans(source, condition, narrowed, skipLimits)]
  const scan: AccessPath = { ...NO_ROWS, kind: 'scan', rows: count, expected: count }
  return [...keyed, ...intersections(keyed, count), scan]
}

/** No rows: for a condition that nothing meets. */
export const NO_ROWS: AccessPath = {
  kind: 'union',
  ranges: [],
  counts: [],
  branches: [],
  rows: 0,
  toCollect: 0,
  toCount: 0,
  expected: 0,
  distinct: true,
  met: new Set(),
  fields: [],
  fixed: 0,
  bounds: [],
}

/** Paths by keys, each with at most `rangesMax` ranges. `outer`: a condition that rows meet besides. */
export function keyedPaths(
  source: PlanSource,
  condition: Condition,
  outer: Condition,
  rangesMax: number,
  morePaths: MorePaths | undefined,
): AccessPath[] {
  const known = combine('and', [outer, condition])
  const byPath = conditionsByPath(condition)
  const reads: (() => AccessPath | readonly AccessPath[] | undefined)[] = [
    () => idPath(source, byPath.get('_id') ?? [], rangesMax),
    ...source.indexes
      .filter((index) => holdsAll(index, known))
      .flatMap((index) => indexPaths(source, index, byPath, rangesMax))
      .map((path) => () => withPartsMet(path(), condition)),
    ...(morePaths === undefined ? [] : [() => morePaths(source, condition, known, rangesMax)]),
  ]
  return together(reads, (read) => read()).flatMap((found) => found ?? [])
}

function conditionsByPath(condition: Condition): ConditionsByPath {
  const byPath = new Map<string, WithinCondition[]>()
  for (const part of conjuncts(condition)) {
    if (part.kind !== 'within' || !hasExactKeys(part.values)) continue
    byPath.set(part.path, [...(byPath.get(part.path) ?? []), part])
  }
  return byPath
}

/** Unless another path walks few entries, or nothing remains to be tested of what it walks. */
function skipScans(
  source: PlanSource,
  condition: Condition,
  paths: readonly AccessPath[],
  limits: SkipScanLimits,
): AccessPath[] {
  const isSettled = ({ rows, met }: AccessPath): boolean =>
    rows < 2 * limits.entriesMin || conjuncts(condition).every((part) => met.has(part))
  if (paths.some(isSettled)) return []
  const byPath = conditionsByPath(condition)
  if (byPath.size === 0) return []
  const indexes = source.indexes.filter((index) => !index.multi && holdsAll(index, condition))
  const found = together(indexes, (index) => indexPath(source, index, byPath, KEY_RANGES_MAX, limits))
  return found.flatMap((path) => withPartsMet(path, condition) ?? [])
}

export function idPath(
  { documents }: PlanSource,
  conditions: readonly WithinCondition[],
  rangesMax: number,
): AccessPath | undefined {
  const all = intersectAll(conditions.map(({ values }) => values))
  const values = narrowed(all, rangesMax)
  const ranges = conditions.length === 0 ? [{}] : idRanges(values)
  if (ranges === undefined) return undefined
  return rangePath(ranges, (range) => documents.countIds(range), {
    kind: 'ids',
    met: new Set(values === all ? conditions : []),
    fields: [{ path: '_id', descending: false }],
    fixed: isOnePoint(values) ? 1 : 0,
    bounds: conditions.length === 0 ? [] : [{ path: '_id', values }],
    // The set of all is kept.
    ...(conditions.length === 0 && { toCollect: 0 }),
  })
}

/** The path along some ranges. */
function rangePath(
  ranges: readonly KeyRange[],
  count: (range: KeyRange) => number,
  details: Partial<AccessPath>,
): AccessPath {
  const counts = together(ranges, count)
  const rows = sum(counts)
  const { distinct = true } = details
  const work = { toCollect: rows, toCount: distinct ? 0 : rows }
  return { ...NO_ROWS, ...work, ranges, counts, rows, expected: rows, ...details }
}

function indexPaths(
  source: PlanSource,
  index: IndexDefinition,
  byPath: ConditionsByPath,
  rangesMax: number,
): (() => AccessPath | undefined)[] {
  if (!index.multi) return [() => indexPath(source, index, byPath, rangesMax)]
  // The elements of one array meet different conditions: entries can be looked up by one of them only.
  const conditions = byPath.get(index.fields[0]!.path) ?? []
  return conditions
    .filter(({ every, whole, self, collation }) => !every && !whole && !self && collation === undefined)
    .map((one) => () => elementPath(source, index, one, rangesMax))
}

/** Whether every document that meets the condition has the entries in the index that are looked up here. */
export function holdsAll(index: IndexDefinition, condition: Condition): boolean {
  const { builtTo, text, where } = index
  if (builtTo !== undefined || text !== undefined) return false
  return where === undefined || implication().implies(condition, indexCondition(index))
}

/** The documents of a partial index meet what its own condition says. */
function withPartsMet(path: AccessPath | undefined, condition: Condition): AccessPath | undefined {
  const index = path?.index
  if (path === undefined || index?.where === undefined) return path
  const parts = conjuncts(condition).filter((part) => implication().implies(indexCondition(index), part))
  return { ...path, met: new Set([...path.met, ...parts]) }
}

export const ALWAYS: Condition = { kind: 'and', of: [] }

/** By the elements of arrays. */
export function elementPath(
  source: PlanSource,
  index: IndexDefinition,
  condition: WithinCondition,
  rangesMax: number,
): AccessPath {
  const { path } = condition
  const values = narrowed(condition.values, rangesMax)
  const tree = source.index(index)
  const ranges = intervalsOf(values).map((interval) => entryRange('', interval, index.fields[0]!.descending))
  return rangePath(mergeRanges(ranges), (range) => tree.count(range), {
    kind: 'index',
    index,
    distinct: isOnePoint(values),
    fields: isOnePoint(values) ? BY_CREATION : [],
    met: new Set(values === condition.values ? [condition] : []),
    bounds: [{ path, values }],
  })
}

/**
 * A path by the values of fields: points of the first ones, then intervals of one. If the index holds an array for a
 * field, its elements decide: all arrays are read, and the condition is tested. With `skipLimits`, a field before may
 * also vary (skip-scan.ts); undefined if there is no such field, or if it has too many values.
 */
function indexPath(
  source: PlanSource,
  index: IndexDefinition,
  byPath: ConditionsByPath,
  rangesMax: number,
  skipLimits?: SkipScanLimits,
): AccessPath | undefined {
  const tree = source.index(index)
  const met = new Set<Condition>()
  const bounds: { path: string; values: ValueSet }[] = []
  const all = [...index.fields, ...BY_CREATION]
  const last = all.findLastIndex(({ path }) => byPath.has(path))
  let prefixes: readonly string[] = ['']
  let ranges: KeyRange[] = [{}]
  let fixed = 0
  let skipped = false
  for (const [at, { path, descending }] of all.entries()) {
    const conditions = byPath.get(path)?.filter((part) => isInOrderOf(index, part))
    let intervals = ALL_VALUES
    if (conditions !== undefined && conditions.length > 0) {
      const wholeSet = intersectAll(conditions.map(({ values }) => values))
      const values = narrowed(wholeSet, rangesMax / prefixes.length)
      intervals = intervalsOf(values)
      const rangeOf = path === CREATED ? creationRange : entryRange
      const wanted = prefixes.flatMap((prefix) => intervals.map((interval) => rangeOf(prefix, interval, descending)))
      const count = (range: KeyRange): number => tree.count(range)
      const arrays = conditions.every(({ self }) => self)
        ? []
        : arrayRanges(prefixes, descending, count, at === last ? wanted : [])
      ranges = wanted
      bounds.push({ path, values })
      ranges.push(...arrays)
      if (arrays.length > 0 || values !== wholeSet) break
      for (const condition of conditions) met.add(condition)
      if (isPoints(values)) {
        if (fixed === at && isOnePoint(values)) fixed++
        if (at === last) break
        const keys = intervals.map(([{ value }]) => encodeIndexValue(value, descending))
        prefixes = prefixes.flatMap((prefix) => keys.map((key) => prefix + key))
        continue
      }
    }
    if (skipLimits === undefined || at >= last) break
    const found = skipScan().fieldPrefixes(tree, prefixes, intervals, descending, skipLimits)
    if (found === undefined) break
    prefixes = found
    skipped = true
  }
  if (skipLimits !== undefined && !skipped) return undefined
  return rangePath(mergeRanges(ranges), (range) => tree.count(range), {
    kind: 'index',
    index,
    met,
    fields: all,
    collation: index.collation,
    fixed,
    bounds,
  })
}

/** Whether the set of values is a set of ranges of the index. */
function isInOrderOf({ collation }: IndexDefinition, part: WithinCondition): boolean {
  return part.path === '_id' || part.collation?.name === collation || !ordersText(part.values)
}

/** `next`: ranges that will be counted in any case: what that needs is fetched along with what is missed here. */
function arrayRanges(
  prefixes: readonly string[],
  descending: boolean,
  count: (range: KeyRange) => number,
  next: readonly KeyRange[],
): KeyRange[] {
  const ranges = prefixes.map((prefix) => entryRange(prefix, ARRAYS_ONLY, descending))
  let counts: number[]
  try {
    counts = together(ranges, count)
  } catch (thrown) {
    if (thrown instanceof Miss) together(next, count)
    throw thrown
  }
  return ranges.filter((_, at) => counts[at]! > 0)
}

/** All values, missing ones too. */
const ALL_VALUES: readonly Interval[] = intervalsOf([{ value: undefined, above: false }])
const [ARRAYS_ONLY] = intervalsOf(ARRAYS) as [Interval]

/** The set, or if it has too many intervals the one interval that all of them are in. */
export function narrowed(values: ValueSet, intervalsMax: number): ValueSet {
  if (values.length <= 2 * Math.max(1, intervalsMax)) return values
  return values.length % 2 === 0 ? [values[0]!, values.at(-1)!] : [values[0]!]
}

/**
 * Pairs each path with the narrowest others. Each of the two must meet a condition that the other does not, or the
 * first only gives the order. Where more than two have something to add, all of these are one more path.
 */
export function intersections(paths: readonly AccessPath[], count: number): AccessPath[] {
  const narrowest = narrowing(paths)
  return paths.flatMap((first) => {
    const seconds = narrowest.filter(
      (second) => meetsMore(second, first) && (first.bounds.length === 0 || meetsMore(first, second)),
    )
    const groups = seconds.slice(0, INTERSECTED_PATHS_MAX).map((second) => [second])
    const all: AccessPath[] = []
    const met = new Set(first.met)
    for (const second of seconds) {
      if (!meetsMore(second, { met })) continue
      all.push(second)
      for (const condition of second.met) met.add(condition)
    }
    if (all.length > 1) groups.push(all)
    return groups.map((others) => intersection(first, others, count))
  })
}

/** An intersection among the others begins with all documents. */
export function intersection(first: AccessPath, others: readonly AccessPath[], count: number): AccessPath {
  const { fields, collation, fixed } = first
  const rows = Math.min(first.rows, ...others.map((other) => other.rows))
  const toCollect = sum([first, ...others].map((path) => path.toCollect))
  const share = others.reduce((product, other) => (product * other.expected) / Math.max(count, 1), 1)
  return {
    ...NO_ROWS,
    kind: 'intersection',
    branches: [first, ...others].flatMap((path, at) => {
      if (path.kind !== 'intersection') return [path]
      return at === 0 ? path.branches : path.branches.slice(1)
    }),
    rows,
    toCollect,
    toCount: toCollect,
    expected: Math.min(rows, Math.ceil(first.expected * share)),
    distinct: false,
    met: new Set([first, ...others].flatMap(({ met }) => [...met])),
    fields,
    collation,
    fixed,
  }
}

function meetsMore(left: Pick<AccessPath, 'met'>, right: Pick<AccessPath, 'met'>): boolean {
  for (const condition of left.met) if (!right.met.has(condition)) return true
  return false
}

/** Paths that any condition narrows, fewest rows first. */
export function narrowing(paths: readonly AccessPath[]): AccessPath[] {
  return paths.filter(isNarrowing).toSorted((left, right) => left.rows - right.rows)
}

/** All documents, each once. */
export function isWhole({ kind, bounds }: AccessPath): boolean {
  return kind === 'ids' && bounds.length === 0
}

function isNarrowing({ bounds, kind, index }: AccessPath): boolean {
  return bounds.length > 0 || index?.where !== undefined || ['union', 'numbers', 'intersection'].includes(kind)
}

type ConditionsByPath = ReadonlyMap<string, readonly WithinCondition[]>

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
