/** Answers a bound rule for one record. */
import { column, sqlValue } from './column.ts'
import { kindOf } from './kinds.ts'
import { RuleError } from './errors.ts'
import { joinsOf, type BoundRule, type Condition, type Join, type Leaf, type Test, type Value } from './plan.ts'
import type { RuleRecord, RuleRecords } from './records.ts'
import { affinityOf, type Field } from './schema.ts'
import { strftime } from './time.ts'
import { around, compare, isSame, like, lower, numberIn, type SqlValue, type Truth, type Typed } from './values.ts'

/** A record, an element of a list, or null where a step leads nowhere. */
export type Row = RuleRecord | SqlValue

interface Rows {
  readonly rows: readonly Row[]
  readonly isComplete: boolean
}

/** The rows that joins have at the moment, and what the rule is evaluated with. */
export interface Work {
  readonly rows: Map<Join, Row>
  readonly records: RuleRecords
  readonly now: Date
  /** How many rows may still be read and tried, of a rule that is evaluated. */
  rowsLeft?: number
  /** The rows that were last found for a join, by the row that it leads from. */
  readonly found?: Map<Join, { readonly from: Row | undefined; readonly rows: Rows }>
}

/** How many rows may still be read and tried for all records that are asked about together. */
export interface RowBudget {
  /** Each answer takes its rows from it. */
  left: number
}

/** For one record. Paths that are compared with each other multiply their rows. */
const ROWS_MAX = 100_000

/**
 * Whether a rule admits a record: true, false, or undefined where that can't be known here.
 * @throws RuleError limit: it reads or tries too many rows
 *
 * @example
 * const answer = evaluate(bound, post, records)
 * if (answer === undefined) askTheServer()
 */
export function evaluate(
  bound: BoundRule,
  record: RuleRecord,
  records: RuleRecords,
  budget?: RowBudget,
): boolean | undefined {
  return withWork(bound, record, records, budget, (work) => some(bound.condition, work))
}

/** Runs what reads and tries rows for one record. */
export function withWork<T>(
  bound: BoundRule,
  record: RuleRecord,
  records: RuleRecords,
  budget: RowBudget | undefined,
  run: (work: Work) => T,
): T {
  const most = Math.min(ROWS_MAX, budget?.left ?? ROWS_MAX)
  const rows = new Map<Join, Row>([[bound.record, record]])
  const work = { rows, records, now: bound.now, rowsLeft: most, found: new Map() }
  const result = run(work)
  if (budget !== undefined) budget.left -= most - work.rowsLeft
  return result
}

/** @throws RuleError limit */
function spend(work: Work, rows: number): void {
  if (work.rowsLeft === undefined) return
  work.rowsLeft -= rows
  if (work.rowsLeft < 0) throw new RuleError('limit', 'Too many rows are compared.', 0)
}

type Ask = (work: Work) => boolean | undefined

/** Whether some choice of rows, for the joins that have none yet, meets the condition. */
export function some(condition: Condition, work: Work): boolean | undefined {
  const open = Array.from(joinsOf(condition)).filter((join) => !work.rows.has(join))
  return asking(condition, open)(work)
}

/** The way to ask is the same for each choice of rows, so it is found once. `open`: the joins that have no row then. */
function asking(condition: Condition, open: readonly Join[]): Ask {
  const { kind } = condition
  const parts = kind === 'leaf' ? [condition] : condition.of
  const groups = kind === 'or' ? parts.map((part) => [part]) : independent(parts, (part) => openOf(part, open))
  const asks = groups.map((group) => askingTogether(group, open))
  const answerOf = kind === 'or' ? anyOf<Ask> : allOf<Ask>
  return (work) => answerOf(asks, (ask) => ask(work))
}

/** Parts that share no open join may be asked one by one: those that do speak of one row. */
export function independent<Part>(parts: readonly Part[], openOf: (part: Part) => readonly Join[]): Part[][] {
  let groups: { parts: Part[]; open: Set<Join> }[] = []
  for (const part of parts) {
    const open = openOf(part)
    const shared = groups.filter((group) => open.some((join) => group.open.has(join)))
    groups = groups.filter((group) => !shared.includes(group))
    groups.push({
      parts: [...shared.flatMap((group) => group.parts), part],
      open: new Set([...open, ...shared.flatMap((group) => [...group.open])]),
    })
  }
  return groups.map((group) => group.parts)
}

/** The first join that leads from a row which is known. */
export function firstOf(open: readonly Join[]): Join | undefined {
  return open.find(({ parent }) => parent === undefined || !open.includes(parent))
}

function openOf(part: Condition, open: readonly Join[]): readonly Join[] {
  const joins = joinsOf(part)
  return open.filter((join) => joins.has(join))
}

/** Chooses a row for the first open join of the parts. */
function askingTogether(parts: readonly Condition[], open: readonly Join[]): Ask {
  const [only] = parts
  if (parts.length === 1 && only!.kind !== 'leaf') return asking(only!, open)
  const all: Condition = { kind: 'and', of: parts }
  const next = firstOf(openOf(all, open))
  // Parts without an open join come one by one.
  if (next === undefined) return (work) => holds(only as Leaf, work)
  const rest = open.filter((join) => join !== next)
  const ask = asking(all, rest)
  return (work) => withRows(next, work, () => ask(work))
}

/** Whether `body` holds for some row of a join. */
export function withRows(join: Join, work: Work, body: () => boolean | undefined): boolean | undefined {
  const { rows, isComplete } = rowsOf(join, work)
  const answer = anyOf(rows, (row) => {
    spend(work, 1)
    work.rows.set(join, row)
    return body()
  })
  work.rows.delete(join)
  return answer === true || isComplete ? answer : undefined
}

function holds({ test, every, visible }: Leaf, work: Work): boolean | undefined {
  const answer = isTrue(testOf(test, work))
  if (answer === false) return answer
  const isEach = every === undefined || not(someFails(every.test, [...every.joins], work))
  return allOf([answer, isEach, ...visible.map((join) => isVisible(join, work))], (one) => one)
}

/** NULL does not fail: PocketBase looks for rows where the condition is false. */
function someFails(test: Test, open: readonly Join[], work: Work): boolean | undefined {
  const next = firstOf(open)
  if (next !== undefined) {
    const rest = open.filter((join) => join !== next)
    return withRows(next, work, () => someFails(test, rest, work))
  }
  const answer = testOf(test, work)
  return answer === undefined ? undefined : answer === false
}

function isVisible(join: Join, work: Work): boolean | undefined {
  const found = stored(join, 'emailVisibility', work)
  return found === undefined ? undefined : found?.value === true
}

function allOf<T>(items: readonly T[], answerOf: (item: T) => boolean | undefined): boolean | undefined {
  return not(anyOf(items, (item) => not(answerOf(item))))
}

function anyOf<T>(items: readonly T[], answerOf: (item: T) => boolean | undefined): boolean | undefined {
  let answer: boolean | undefined = false
  for (const item of items) {
    const one = answerOf(item)
    if (one === true) return true
    if (one === undefined) answer = undefined
  }
  return answer
}

function not(answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : !answer
}

function isTrue(truth: Truth | undefined): boolean | undefined {
  return truth === undefined ? undefined : truth === true
}

/** No row is a row of nulls, as in a LEFT JOIN. */
export function rowsOf(join: Join, work: Work): Rows {
  const from = join.parent && work.rows.get(join.parent)
  const known = work.found?.get(join)
  if (known !== undefined && isSameRow(known.from, from)) return known.rows
  const found = findRows(join, work)
  spend(work, found.rows.length)
  const rows = found.isComplete && found.rows.length === 0 ? NOWHERE : found
  work.found?.set(join, { from, rows })
  return rows
}

/** Records of one join are of one collection, so their ids tell them apart. */
function isSameRow(one: Row | undefined, other: Row | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  return one['id'] === other['id']
}

const NOWHERE: Rows = { rows: [null], isComplete: true }
const NOT_KNOWN: Rows = { rows: [], isComplete: false }

function findRows(join: Join, work: Work): Rows {
  const { records } = work
  switch (join.kind) {
    case 'related': {
      const id =
        join.field === undefined ? typed(work.rows.get(join.parent) as SqlValue) : field(join.parent, join.field, work)
      return id === undefined
        ? NOT_KNOWN
        : byIds(join.collection.name, id.value === null ? [] : [String(id.value)], records)
    }
    case 'back': {
      const parent = work.rows.get(join.parent) as RuleRecord | null
      if (parent === null) return NOWHERE
      const { records: rows, isComplete } = records.via(join.collection.name, join.field.name, String(parent['id']))
      return { rows, isComplete }
    }
    case 'all': {
      const { records: rows, isComplete } = records.all(join.collection.name)
      return { rows, isComplete }
    }
    case 'each': {
      const list = elements(join.parent, join.field, work)
      return list === undefined ? NOT_KNOWN : { rows: list, isComplete: true }
    }
    case 'ids':
      return byIds(join.collection.name, join.ids, records)
    case 'items':
      return { rows: join.items, isComplete: true }
    default:
      return NOT_KNOWN
  }
}

function byIds(collection: string, ids: readonly string[], records: RuleRecords): Rows {
  const found = ids.filter((id) => id !== '').map((id) => records.get(collection, id))
  return {
    rows: found.filter((record) => record !== null && record !== undefined),
    isComplete: !found.includes(undefined),
  }
}

export function testOf(test: Test, work: Work): Truth | undefined {
  if (test.kind === 'constant') return test.value
  if (test.kind === 'unknown') return undefined
  if (test.kind === 'empty') {
    const of = valueOf(test.of, work)
    return of && (of.value === null || of.value === '') !== test.negated
  }
  const left = valueOf(test.left, work)
  const right = valueOf(test.right, work)
  if (left === undefined || right === undefined) return undefined
  switch (test.kind) {
    case 'coalesced':
      return isSame(typed(left.value ?? '', left.real), typed(right.value ?? '', right.real)) !== test.negated
    case 'like': {
      const answer = like(left, right)
      return answer === null ? null : answer !== test.negated
    }
    default:
      if (test.operator === 'is' || test.operator === 'is not') return isSame(left, right) === (test.operator === 'is')
      return compare(left, test.operator, right)
  }
}

function typed(value: SqlValue, real = false): Typed {
  return { value, affinity: 'none', real }
}

/** Undefined if it is not known here. */
export function valueOf(value: Value, work: Work): Typed | undefined {
  switch (value.kind) {
    case 'parameter':
      return typed(sqlValue(value.value), value.real)
    case 'constant':
      return typed(value.value)
    case 'field':
      return field(value.join, value.field, work)
    case 'json':
      return jsonValue(value.join, value.field, value.path, work)
    case 'element':
      return typed(work.rows.get(value.join) as SqlValue)
    case 'length':
      return length(value.join, value.field, work)
    case 'lower':
    case 'around': {
      const of = valueOf(value.of, work)
      return of && typed(value.kind === 'lower' ? lower(of) : around(of))
    }
    case 'call': {
      const of = value.of.map((argument) => valueOf(argument, work)?.value)
      if (of.includes(undefined)) return undefined
      const values = of as readonly SqlValue[]
      return typed(
        value.name === 'strftime' ? strftime(values, work.now) : geoDistance(values),
        value.name !== 'strftime',
      )
    }
    case 'truth':
    case 'search': {
      const of = value.kind === 'truth' ? some(value.of, work) : isFound(value, work)
      return of === undefined ? undefined : typed(of ? 1 : 0)
    }
    default:
      return undefined
  }
}

/** No words are found where there is no record. */
function isFound(
  { join, collection, text }: Extract<Value, { kind: 'search' }>,
  { rows, records }: Work,
): boolean | undefined {
  const record = rows.get(join) as RuleRecord | null
  return record === null ? false : records.finds?.(collection.name, record, text)
}

/** The value of a record in a field: undefined if that is not known, null if there is no record. */
function stored(join: Join, name: string, { rows, records }: Work): { readonly value: unknown } | null | undefined {
  const record = rows.get(join) as RuleRecord | null
  if (record === null) return null
  const isKnown = !('collection' in join) || records.knows?.(join.collection.name, name) !== false
  return isKnown ? { value: record[name] } : undefined
}

function field(join: Join, of: Field, work: Work): Typed | undefined {
  const found = stored(join, of.name, work)
  const affinity = join.kind === 'record' && join.isUnsaved ? 'none' : affinityOf(of)
  return found === undefined ? undefined : { value: found && column(of, found.value), affinity, real: false }
}

function elements(join: Join, of: Field, work: Work): readonly SqlValue[] | undefined {
  const found = stored(join, of.name, work)
  if (found === undefined) return undefined
  if (found !== null && of.isMany) return Array.isArray(found.value) ? found.value.map(sqlValue) : []
  return [found === null ? null : column(of, found.value)]
}

function length(join: Join, of: Field, work: Work): Typed | undefined {
  const list = elements(join, of, work)
  return (
    list &&
    typed(of.isMany ? (work.rows.get(join) === null ? 0 : list.length) : list[0] === '' || list[0] === null ? 0 : 1)
  )
}

function jsonValue(join: Join, of: Field, path: readonly string[], work: Work): Typed | undefined {
  const found = stored(join, of.name, work)
  if (found === undefined) return undefined
  if (found === null) return typed(null)
  let value = found.value ?? kindOf(of).empty
  for (const key of path) {
    const isIndex = /^\d+$/.test(key)
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== isIndex) return typed(null)
    const name = isIndex ? Number(key) : key
    value = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : null
  }
  return typed(sqlValue(value))
}

/** Kilometres; NULL where SQLite has none, as between two points that are the same by an error of rounding. */
function geoDistance(values: readonly SqlValue[]): number | null {
  const angles = values.map((value) => ((typeof value === 'string' ? numberIn(value) : value) ?? NaN) * (Math.PI / 180))
  const [lonA = 0, latA = 0, lonB = 0, latB = 0] = angles
  const cosine = Math.cos(latA) * Math.cos(latB) * Math.cos(lonB - lonA) + Math.sin(latA) * Math.sin(latB)
  const distance = 6371 * Math.acos(cosine)
  return Number.isNaN(distance) ? null : distance
}
