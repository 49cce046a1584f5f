/** Access paths of sets: unions, sets of document numbers, all documents but others, and paths in the order of creation. */
import { together } from '../../base/miss.ts'
import { conjuncts, type AnyOf, type Condition, type WithinCondition } from '../ast/normalise.ts'
import { complement, MISSING } from '../ast/value-set.ts'
import type { PlanSource } from '../query-source.ts'
import {
  ALWAYS,
  BY_CREATION,
  elementPath,
  holdsAll,
  idPath,
  intersection,
  intersections,
  keyedPaths,
  narrowed,
  narrowing,
  NO_ROWS,
  sum,
  type AccessPath,
  type MorePaths,
} from './access-path.ts'
import { hasExactKeys } from './key-ranges.ts'

/** Alternatives of an `$or` that are looked up one by one; if there are more all documents are scanned. */
const UNION_BRANCHES_MAX = 1000

/** The paths of a condition's parts that are alternatives, sets, or negated. */
export const setPaths: MorePaths = (source, condition, known, rangesMax) => {
  const paths = together(conjuncts(condition), (part) =>
    part.kind === 'or' ? unionPath(source, part, known, rangesMax) : excludingPath(source, part, rangesMax),
  )
  return [numbersPath(condition), ...paths].filter((path) => path !== undefined)
}

/** Each alternative by its best path; undefined if one of them has none. */
function unionPath(source: PlanSource, either: AnyOf, outer: Condition, rangesMax: number): AccessPath | undefined {
  if (either.of.length > UNION_BRANCHES_MAX) return undefined
  const share = rangesMax / either.of.length
  const branches = together(either.of, (one) => narrowing(keyedPaths(source, one, outer, share, setPaths))[0])
  if (branches.includes(undefined)) return undefined
  const isExact = branches.every((branch, at) => conjuncts(either.of[at]!).every((part) => branch!.met.has(part)))
  const rows = sum(branches.map((branch) => branch!.rows))
  const met = new Set(isExact ? [either] : [])
  const toCollect = sum(branches.map((branch) => branch!.toCollect))
  const work = { toCollect, toCount: toCollect }
  return { ...NO_ROWS, ...work, branches: branches as AccessPath[], rows, expected: rows, distinct: false, met }
}

/** The documents on a path, in the order of creation. */
export function inCreationOrder(path: AccessPath): AccessPath {
  const { rows, expected, toCollect, toCount, distinct, met } = path
  const same = { rows, expected, toCollect, toCount, distinct, met }
  return { ...NO_ROWS, ...same, kind: 'set', branches: [path], fields: BY_CREATION }
}

/** The documents whose numbers are in all sets that are asked for, and in none that is excluded. */
function numbersPath(condition: Condition): AccessPath | undefined {
  const parts = conjuncts(condition)
  const conditions = parts.filter((part) => part.kind === 'numbers')
  if (conditions.length === 0) return undefined
  const met = new Set<Condition>(conditions)
  let numbers = conditions.map((part) => part.numbers).reduce((all, next) => all.and(next))
  for (const part of parts) {
    if (part.kind !== 'complement' || part.of.kind !== 'numbers') continue
    numbers = numbers.andNot(part.of.numbers)
    met.add(part)
  }
  const { count } = numbers
  const columns = conditions.flatMap(({ column }) => column ?? [])
  const searches = conditions.flatMap(({ search }) => search ?? [])
  const from = { numbers, columns, searches }
  return { ...NO_ROWS, kind: 'numbers', ...from, rows: count, expected: count, met, fields: BY_CREATION }
}

/** All documents but those that do not meet the condition, if paths tell which these are. */
function excludingPath(source: PlanSource, condition: Condition, rangesMax: number): AccessPath | undefined {
  const others = othersPath(source, condition, rangesMax)
  if (others === undefined) return undefined
  const all = idPath(source, [], rangesMax)!
  const count = all.rows
  const rows = count - Math.min(count, rowsMin(others))
  const expected = count - Math.min(count, others.expected)
  const { toCollect, toCount } = others
  const work = { rows, expected, toCollect, toCount, met: new Set([condition]) }
  return { ...intersection(all, [{ ...NO_ROWS, ...work, kind: 'complement', branches: [others] }], count), toCount }
}

/** The documents that do not meet the condition. */
function othersPath(source: PlanSource, condition: Condition, rangesMax: number): AccessPath | undefined {
  if (condition.kind === 'complement') return exactPath(source, condition.of, rangesMax)
  return isExcluding(condition) ? failingPath(source, condition, rangesMax) : undefined
}

/** Whether it is about what no element may be. */
function isExcluding(condition: Condition): condition is WithinCondition {
  return condition.kind === 'within' && condition.every && !condition.whole && condition.collation === undefined
}

/** The path with the fewest rows among those of exactly the documents that meet the condition. */
function exactPath(source: PlanSource, condition: Condition, rangesMax: number): AccessPath | undefined {
  const keyed = keyedPaths(source, condition, ALWAYS, rangesMax, setPaths)
  const paths = narrowing([...keyed, ...intersections(keyed, source.documents.count())])
  return paths.find(({ met }) => conjuncts(condition).every((part) => met.has(part)))
}

/** The least number of documents on the path. */
function rowsMin({ kind, distinct, rows, branches }: AccessPath): number {
  if (kind === 'union') return Math.max(0, ...branches.map(rowsMin))
  return distinct && kind !== 'missing' ? rows : 0
}

/** By a multi index: the documents with an element that must not be there, and those without the field. */
function failingPath(source: PlanSource, condition: WithinCondition, rangesMax: number): AccessPath | undefined {
  const { path } = condition
  const index = source.indexes.find(
    (one) => one.multi && one.fields[0]!.path === path && one.where === undefined && holdsAll(one, ALWAYS),
  )
  const values = complement(condition.values)
  if (index === undefined || !hasExactKeys(values) || narrowed(values, rangesMax) !== values) return undefined
  const found = elementPath(source, index, { ...condition, values }, rangesMax)
  const empty = elementPath(source, index, { ...condition, values: MISSING }, rangesMax)
  if (empty.rows === 0) return found
  const missing: AccessPath = { ...empty, kind: 'missing', branches: [empty], toCount: empty.rows }
  const rows = found.rows + empty.rows
  const work = { toCollect: rows, toCount: found.toCount + missing.toCount }
  return { ...NO_ROWS, ...work, branches: [found, missing], rows, expected: rows, distinct: found.distinct }
}
