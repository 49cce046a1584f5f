/** The rows of a view, made of the documents that it reads. */
import { castValue, emptyValue } from '../../fields/field-types.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { Definition, ViewDefinition } from '../definition.ts'
import type { SqlExpression } from '../sql/expression.ts'
import { SqlError } from '../sql/tokens.ts'
import { findColumn, storedValue, truthOf, valueOf, type JoinedRow, type RowScope } from './evaluate.ts'
import { compareValues, isAggregate, type SqlValue } from './functions.ts'
import { joinedRows } from './join.ts'
import type { Select, SelectColumn } from './select.ts'
import { mapped, type Steps } from './steps.ts'
import { callsOf, planOf, type ViewPlan } from './view-plan.ts'

/** The documents of a collection, in the order of creation. */
type DocumentsOf = (definition: Definition) => readonly JsonObject[]

/** The collections with records that a view reads, those of the views that it reads too. @throws SqlError */
export function collectionsOf(view: ViewDefinition, all: readonly Definition[]): ReadonlySet<Definition> {
  const found = new Set<Definition>()
  for (const { definition } of planOf(view.viewQuery, all).tables) {
    if (definition.type !== 'view') found.add(definition)
    else for (const one of collectionsOf(definition, all)) found.add(one)
  }
  return found
}

/**
 * The rows of a view, in the form of documents: `_id`, and its fields.
 *
 * @throws SqlError if the view no longer fits what it reads
 */
export function* rowsOf(
  view: ViewDefinition,
  all: readonly Definition[],
  documentsOf: DocumentsOf,
): Steps<readonly JsonObject[]> {
  const plan = planOf(view.viewQuery, all)
  const rows: (readonly JsonObject[])[] = []
  for (const { definition } of plan.tables)
    rows.push(definition.type === 'view' ? yield* rowsOf(definition, all, documentsOf) : documentsOf(definition))
  return yield* resultOf(plan, view.fields, rows)
}

function* resultOf(
  plan: ViewPlan,
  fields: readonly FieldDefinition[],
  documents: readonly (readonly JsonObject[])[],
): Steps<readonly JsonObject[]> {
  const { select, tables } = plan
  const aliases = new Map(select.columns.map(({ name, expression }) => [name.toLowerCase(), expression]))
  const scopeOf = (row: JoinedRow, group: readonly JoinedRow[] = [], number = 0): RowScope => ({
    tables,
    row,
    group,
    number,
    aliases,
  })
  const matching = yield* joinedRows(plan, documents, scopeOf)
  const groups = yield* groupsOf(select, matching, scopeOf)
  const { having, orderBy } = select
  const isKept = having && (yield* mapped(groups, (scope) => truthOf(having, scope) === true))
  const kept = isKept === undefined ? groups : groups.filter((_, place) => isKept[place])
  const made = yield* mapped(kept, (unnumbered, place) => {
    const scope = { ...unnumbered, number: place + 1 }
    return { row: rowOf(select.columns, fields, scope), order: orderBy.map((by) => orderValue(by, select, scope)) }
  })
  const rows = distinct(select, made)
  const sorted = orderBy.length === 0 ? rows : rows.toSorted((one, other) => compareRows(select, one, other))
  const end = select.limit === undefined ? Infinity : select.offset + select.limit
  return sorted.slice(select.offset, end).map(({ row }) => row)
}

interface Group {
  /** What its rows have in common. */
  readonly by: readonly SqlValue[]
  readonly rows: JoinedRow[]
}

/** One scope for each row of the result. Groups are in the order of what their rows have in common. */
function* groupsOf(
  { columns, groupBy, having, orderBy }: Select,
  rows: readonly JoinedRow[],
  scopeOf: (row: JoinedRow, group?: readonly JoinedRow[]) => RowScope,
): Steps<readonly RowScope[]> {
  const expressions = [...columns.map(({ expression }) => expression), ...(having === undefined ? [] : [having])]
  const aggregates = [...expressions, ...orderBy.map(({ by }) => by)].flatMap(callsOf).filter(isAggregate)
  if (groupBy.length === 0 && aggregates.length === 0) return rows.map((row) => scopeOf(row))
  const groups = new Map<string, Group>()
  if (groupBy.length === 0) groups.set('[]', { by: [], rows: [] })
  yield* mapped(rows, (row) => {
    const by = groupBy.map((expression) => valueOf(expression, scopeOf(row)))
    const key = JSON.stringify(by)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { by, rows: [row] })
    else group.rows.push(row)
  })
  const [first, ...others] = aggregates
  const isExtreme = others.length === 0 && (first?.name === 'min' || first?.name === 'max')
  const sorted = [...groups.values()].toSorted((one, other) => compareKeys(one.by, other.by))
  return yield* mapped(sorted, (group) => {
    const scope = scopeOf(group.rows[0] ?? [], group.rows)
    return isExtreme ? { ...scope, row: rowOfExtreme(first!, scope) } : scope
  })
}

function compareKeys(one: readonly SqlValue[], other: readonly SqlValue[]): number {
  const place = one.findIndex((value, index) => compareValues(value, other[index]!) !== 0)
  return place < 0 ? 0 : compareValues(one[place]!, other[place]!)
}

/** With a `min` or `max` alone, columns beside it are those of the row that has it. */
function rowOfExtreme(call: Extract<SqlExpression, { kind: 'call' }>, scope: RowScope): JoinedRow {
  const wanted = valueOf(call, scope)
  return scope.group.find((row) => valueOf(call.of[0]!, { ...scope, row }) === wanted) ?? scope.row
}

function rowOf(columns: readonly SelectColumn[], fields: readonly FieldDefinition[], scope: RowScope): JsonObject {
  const values = columns.map(({ name, expression }, place): readonly [string, unknown] => {
    if (name === 'id') return ['_id', textOf(valueOf(expression, scope)) ?? '']
    const column = expression.kind === 'column' ? findColumn(expression, scope.tables) : undefined
    const field = fields[place]!
    if (column === undefined) return [name, castValue(field, textOf(valueOf(expression, scope)))]
    return [name, storedValue(scope.row[column.place] ?? null, column.field) ?? emptyValue(field)]
  })
  return Object.fromEntries(values)
}

/** PocketBase reads all values of rows as texts. */
function textOf(value: SqlValue): string | null {
  return value === null ? null : String(value)
}

interface MadeRow {
  readonly row: JsonObject
  /** The values of ORDER BY. */
  readonly order: readonly SqlValue[]
}

function distinct({ isDistinct }: Select, rows: readonly MadeRow[]): readonly MadeRow[] {
  return isDistinct
    ? [...new Map(rows.toReversed().map((one) => [JSON.stringify(one.row), one])).values()].toReversed()
    : rows
}

/** A whole number is the place of a column. */
function orderValue({ by }: Select['orderBy'][number], { columns }: Select, scope: RowScope): SqlValue {
  const isPlace = by.kind === 'literal' && typeof by.value === 'number'
  const expression = isPlace ? columns[Number(by.value) - 1]?.expression : by
  if (expression === undefined) throw new SqlError('an ORDER BY term is out of range')
  return valueOf(expression, scope)
}

function compareRows({ orderBy }: Select, one: MadeRow, other: MadeRow): number {
  for (const [index, { isDescending }] of orderBy.entries()) {
    const order = compareValues(one.order[index]!, other.order[index]!)
    if (order !== 0) return isDescending ? -order : order
  }
  return 0
}
