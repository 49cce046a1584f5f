/** The holdings of an account by a cut rule: the sets, the bounds and the values that records are compared with. */
import { column } from './column.ts'
import { selectRows } from './compile-rule.ts'
import { fieldsRead, fieldTo, isFixed, type Atom, type AtomNumber } from './cut-atoms.ts'
import { rowsOfGroup, type OwnRange, type OwnSet } from './cut-groups.ts'
import { boundAtoms, type Alternative, type Cut } from './cut-rule.ts'
import { rowsOf, some, valueOf, withRows, type Row, type Work } from './evaluate.ts'
import { readBy, type Join, type Value } from './plan.ts'
import type { RuleRecord, RuleRecords } from './records.ts'
import { affinityOf, valueType, type Collection, type Field } from './schema.ts'
import { reach } from './reach.ts'
import { convert, numberIn, textOf, type SqlValue } from './values.ts'

/** A set of values, or what is not in one. Several own fields have their values as the text of a list. */
export interface ValueSet {
  /** False: the values are those that are not in the set. */
  readonly isIn: boolean
  /** The values, sorted. */
  readonly values: readonly string[]
}

/** The holding of one alternative. It is plain data, and equal holdings have equal texts. */
export interface Holding {
  /** The values of the ground; undefined if it has none. Sorted. */
  readonly grounds?: readonly string[]
  /** The bound of a range by the account. */
  readonly bound?: SqlValue
  /** The set of values for each of `sets`. */
  readonly sets: readonly ValueSet[]
  /** The values of the account and of related records that `tests` read. */
  readonly account?: Parameters
}

/** The part of an account and of its records that a rule reads. */
export interface Parameters {
  /** The account itself, cut to what is read. */
  readonly record: RuleRecord
  /** By collection. */
  readonly records: Readonly<Record<string, readonly RuleRecord[]>>
}

/** The holding of each alternative; `null` where the account holds nothing of it. */
export type Holdings = readonly (Holding | null)[]

/**
 * Computes what an account holds. All records must be known, and of one state.
 *
 * @example
 * import { parse } from '@pannier/rules'
 * import { cut, holdingsOf } from '@pannier/rules/cut'
 *
 * const rule = parse('project.members.id ?= @request.auth.id')
 * const tasks = cut({ schema, collection: 'tasks', rule, accounts: 'users' })
 * const holdings = holdingsOf(tasks, { id: 'ann' }, records, new Date())
 * holdings[0]?.grounds // the ids of the projects that Ann is a member of
 */
export function holdingsOf(rule: Cut, account: RuleRecord | null, records: RuleRecords, now: Date): Holdings {
  const { bound, atoms } = boundAtoms(rule, account ?? {}, now)
  const asking: Asking = { rule, account, atoms, record: bound.record, records, now }
  return rule.alternatives.map((alternative) => holdingOf(alternative, asking))
}

interface Asking {
  readonly rule: Cut
  readonly account: RuleRecord | null
  readonly atoms: ReadonlyMap<AtomNumber, Atom>
  readonly record: Join
  readonly records: RuleRecords
  readonly now: Date
}

function holdingOf({ account, ground, range, sets, tests }: Alternative, asking: Asking): Holding | null {
  if (!meets(account, [], asking)) return null
  const grounds = ground && setOf(ground, asking)
  if (grounds?.values.length === 0) return null
  const bound = range?.by === 'account' ? boundOf(range, asking) : undefined
  const parameters = parametersOf(
    tests.flatMap(({ atoms }) => atoms),
    asking,
  )
  return {
    ...(grounds === undefined ? {} : { grounds: grounds.values }),
    ...(bound === undefined ? {} : { bound }),
    sets: sets.map((set) => testedSet(set, asking)),
    ...(parameters === undefined ? {} : { account: parameters }),
  }
}

/** Whether some choice of rows meets the atoms, for a record with these values. */
function meets(
  numbers: readonly AtomNumber[],
  values: readonly (readonly [Field, SqlValue])[],
  asking: Asking,
): boolean {
  const { atoms, record, records, now } = asking
  const entries = values.map(([field, value]) => [field.name, storedValue(field, value)])
  const rows = new Map<Join, Row>([[record, Object.fromEntries(entries) as RuleRecord]])
  const of = numbers.flatMap((number) => atoms.get(number)?.leaf ?? [])
  return some({ kind: 'and', of }, { rows, records, now, found: new Map() }) === true
}

const NO_ID = '\0'

/** The empty id stands for one that no record refers to. */
function storedValue(field: Field, value: SqlValue): unknown {
  if (field.name === 'id' && value === '') return NO_ID
  if (field.isMany) return value === '' ? [] : [value]
  return valueType(field) === 'boolean' ? value === 1 : value
}

function ownFields({ fields }: OwnSet, { record }: Asking): Field[] {
  const { collection } = record as { readonly collection: Collection }
  return fields.map((name) => collection.fields.get(name)!)
}

/** The values with which a record meets the conditions, also the empty one. */
function setOf(set: OwnSet, asking: Asking): ValueSet {
  const fields = ownFields(set, asking)
  // The candidates of a match-all are those that may not be in it.
  const others = set.isEvery ? universe(set, asking) : candidates(set, asking)
  return { isIn: true, values: membersOf([fields.map(() => ''), ...others], set, asking) }
}

/** The texts of those values that a record must have to meet the conditions; or must not have. */
function membersOf(values: readonly (readonly SqlValue[])[], set: OwnSet, asking: Asking, wanted = true): string[] {
  const fields = ownFields(set, asking)
  const isMember = (value: readonly SqlValue[]): boolean =>
    meets(
      set.atoms,
      fields.map((field, index) => [field, value[index]!] as const),
      asking,
    ) === wanted
  return keysOf(values.filter(isMember))
}

/** A set that is tested. Where a record that leads nowhere is in it, the set is said by what is not in it. */
function testedSet(set: OwnSet, asking: Asking): ValueSet {
  const isRelated = set.step.kind === 'to' || set.step.kind === 'from'
  const isOpen = isRelated && membersOf([['']], set, asking).length > 0
  if (!isOpen) return setOf(set, asking)
  return {
    isIn: false,
    values: membersOf(set.isEvery ? candidates(set, asking) : universe(set, asking), set, asking, false),
  }
}

/** Values that may be in the set; of a match-all, values that may not be in it. */
function candidates(set: OwnSet, asking: Asking): SqlValue[][] {
  if (set.step.kind === 'account') return accountValues(set, ownFields(set, asking)[0]!, asking)
  const { atoms, record, records, rule, now } = asking
  const group = set.atoms.flatMap((number) => atoms.get(number) ?? [])
  const work: Work = { rows: new Map<Join, Row>(), records, now }
  const leaves = group.map(({ leaf }) => leaf)
  const selection = selectRows(rowsOfGroup(group, record), leaves, set.isEvery, work)
  const found = reach(selection, rule.schema.find(set.step.collection)!, { schema: rule.schema, records })
  return found === undefined ? universe(set, asking) : valuesIn(found, set, asking)
}

/** Every value that other records give the own fields. */
function universe(set: OwnSet, asking: Asking): SqlValue[][] {
  const { step } = set
  return step.kind === 'account' ? [] : valuesIn(asking.records.all(step.collection).records, set, asking)
}

function valuesIn(found: readonly RuleRecord[], { step }: OwnSet, { rule }: Asking): SqlValue[][] {
  if (step.kind === 'account') return []
  const { fields } = rule.schema.find(step.collection)!
  const read = (record: RuleRecord, name: string): SqlValue => column(fields.get(name)!, record[name])
  if (step.kind === 'to') return found.map((record) => [read(record, 'id')])
  if (step.kind === 'any') return found.map((record) => step.fields.map((name) => read(record, name)))
  return found.flatMap((record) => idsIn(record[step.field]).map((id) => [id]))
}

function idsIn(value: unknown): readonly string[] {
  return [value].flat().flatMap((id) => (typeof id === 'string' && id !== '' ? [id] : []))
}

function keysOf(values: readonly (readonly SqlValue[])[]): string[] {
  return [...new Set(values.map(keyOf))].toSorted()
}

/** The text of an own value, or of several. */
export function keyOf(values: readonly SqlValue[]): string {
  return values.length === 1 ? String(values[0]) : JSON.stringify(values)
}

/** The account's values on the other side of equalities, as the own field would have them. */
function accountValues({ atoms: numbers }: OwnSet, field: Field, asking: Asking): SqlValue[][] {
  const kind = valueType(field)
  if (kind === 'boolean') return [[0], [1]]
  const values: SqlValue[][] = kind === 'number' ? [[0]] : []
  const { atoms, record, records, now } = asking
  for (const number of numbers) {
    const { test } = atoms.get(number)!.leaf
    if (test.kind !== 'compare' && test.kind !== 'coalesced') continue
    for (const value of [test.left, test.right]) {
      const joins = readBy(value)
      if (joins.some((join) => !isFixed(join))) continue
      const work: Work = { rows: new Map<Join, Row>([[record, null]]), records, now }
      eachRow(withBefore(joins), work, () => {
        const known = valueOf(value, work)
        if (known === undefined || known.value === null) return
        const text = textOf(known)
        values.push([kind === 'number' ? (numberIn(text) ?? 0) : text])
      })
    }
  }
  return values
}

/** Calls `body` for each choice of rows of the joins. */
function eachRow([next, ...rest]: readonly Join[], work: Work, body: () => void): void {
  if (next === undefined) return body()
  withRows(next, work, () => {
    eachRow(rest, work, body)
    return false
  })
}

/** The joins in an order in which each has its parent before it. */
function withBefore(joins: readonly Join[]): Join[] {
  const all: Join[] = []
  const add = (join: Join): void => {
    if (join.parent !== undefined) add(join.parent)
    if (!all.includes(join)) all.push(join)
  }
  joins.forEach(add)
  return all
}

function boundOf({ field, atoms: [number = 0] }: OwnRange, asking: Asking): SqlValue {
  const { atoms, record, records, now } = asking
  const affinity = affinityOf((record as { readonly collection: Collection }).collection.fields.get(field)!)
  const { test } = atoms.get(number)!.leaf
  if (test.kind !== 'compare') return null
  const isOther = (value: Value): boolean => !readBy(value).includes(record)
  const other = isOther(test.left) ? test.left : test.right
  const work: Work = { rows: new Map<Join, Row>(), records, now }
  let found: SqlValue = null
  eachRow(withBefore(readBy(other)), work, () => {
    const known = valueOf(other, work)
    found = known === undefined || known.value === null ? null : convert(known, affinity)
  })
  return found
}

/** Undefined if the tests read nothing of the account. */
function parametersOf(numbers: readonly AtomNumber[], asking: Asking): Parameters | undefined {
  const tested = numbers.flatMap((number) => asking.atoms.get(number) ?? [])
  if (asking.account === null || tested.length === 0) return undefined
  const joins = withBefore(tested.flatMap((atom) => [...atom.joins]).filter(isFixed))
  const work: Work = { rows: new Map<Join, Row>(), records: asking.records, now: asking.now }
  const records = new Map<string, Map<string, Record<string, unknown>>>()
  const rows = new Map<Join, readonly Row[]>()
  for (const join of joins) {
    const { parent } = join
    const found = (parent === undefined ? [null] : rows.get(parent)!).flatMap((row) => {
      if (parent !== undefined) work.rows.set(parent, row)
      return rowsOf(join, work).rows
    })
    rows.set(join, found)
    if (!('collection' in join)) continue
    const children = joins.filter((other) => other.parent === join).map(fieldTo)
    const read = tested.flatMap((atom) => [...fieldsRead(atom, join)])
    const back = join.kind === 'back' ? [join.field.name] : []
    const { name } = join.collection
    const kept = records.get(name) ?? new Map<string, Record<string, unknown>>()
    records.set(name, kept)
    keep(kept, found, ['id', ...children, ...read, ...back])
  }
  const plain = joins.length > 0 ? ['id'] : []
  return {
    record: pick(asking.account, [...plain, ...asking.rule.accountFields]),
    records: Object.fromEntries(Array.from(records, ([name, byId]) => [name, [...byId.values()]])),
  }
}

function keep(records: Map<string, Record<string, unknown>>, rows: readonly Row[], fields: readonly string[]): void {
  for (const row of rows) {
    if (row === null || typeof row !== 'object') continue
    const recordId = String(row['id'])
    records.set(recordId, { ...records.get(recordId), ...pick(row, fields) })
  }
}

function pick(record: RuleRecord, fields: readonly string[]): Record<string, unknown> {
  const names = [...new Set(fields)].filter((name) => Object.hasOwn(record, name)).toSorted()
  return Object.fromEntries(names.map((name) => [name, record[name]]))
}
