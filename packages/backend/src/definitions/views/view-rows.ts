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
export function rowsOf(
  view: ViewDefinition,
  all: readonly Definition[],
  documentsOf: DocumentsOf,
): readonly JsonObject[] {
  const plan = planOf(view.viewQuery, all)
  const rows = plan.tables.map(({ definition }) =>
    definition.type === 'view' ? rowsOf(definition, all, documentsOf) : documentsOf(definition),
  )
  return resultOf(plan, view.fields, rows)
}

function resultOf(
  plan: ViewPlan,
  fields: readonly FieldDefinition[],
  documents: readonly (readonly JsonObject[])[],
): readonly JsonObject[] {
  const { select, tables } = plan
  const aliases = new Map(select.columns.map(({ name, expression }) => [name.toLowerCase(), expression]))
  const scopeOf = (row: JoinedRow, group: readonly JoinedRow[] = [], number = 0): RowScope => ({
    tables,
    row,
    group,
    number,
    aliases,
  })
  const matching = joinedRows(plan, documents, scopeOf)
  const groups = groupsOf(select, matching, scopeOf)
  const kept = select.having === undefined ? groups : groups.filter((scope) => truthOf(select.having!, scope) === true)
  const numbered = kept.map((scope, place) => ({ ...scope, number: place + 1 }))
  const made = distinct(
    select,
    numbered.map((scope) => ({ scope, row: rowOf(select.columns, fields, scope) })),
  )
  const sorted =
    select.orderBy.length === 0 ? made : made.toSorted((one, other) => compareRows(select, one.scope, other.scope))
  const end = select.limit === undefined ? Infinity : select.offset + select.limit
  return sorted.slice(select.offset, end).map(({ row }) => row)
}

/** One scope for each row of the result. */
function groupsOf(
  { columns, groupBy, having, orderBy }: Select,
  rows: readonly JoinedRow[],
  scopeOf: (row: JoinedRow, group?: readonly JoinedRow[]) => RowScope,
): readonly RowScope[] {
  const expressions = [...columns.map(({ expression }) => expression), ...(having === undefined ? [] : [having])]
  const aggregates = [...expressions, ...orderBy.map(({ by }) => by)].flatMap(callsOf).filter(isAggregate)
  if (groupBy.length === 0 && aggregates.length === 0) return rows.map((row) => scopeOf(row))
  const groups = new Map<string, JoinedRow[]>()
  if (groupBy.length === 0) groups.set('', [])
  for (const row of rows) {
    const key = JSON.stringify(groupBy.map((by) => valueOf(by, scopeOf(row))))
    const group = groups.get(groupBy.length === 0 ? '' : key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  const [first, ...others] = aggregates
  const isExtreme = others.length === 0 && (first?.name === 'min' || first?.name === 'max')
  return Array.from(groups.values(), (group) => {
    const scope = scopeOf(group[0] ?? [], group)
    return isExtreme ? { ...scope, row: rowOfExtreme(first!, scope) } : scope
  })
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
  readonly scope: RowScope
  readonly row: JsonObject
}

function distinct({ isDistinct }: Select, rows: readonly MadeRow[]): readonly MadeRow[] {
  return isDistinct
    ? [...new Map(rows.toReversed().map((one) => [JSON.stringify(one.row), one])).values()].toReversed()
    : rows
}

function compareRows({ orderBy, columns }: Select, one: RowScope, other: RowScope): number {
  for (const { by, isDescending } of orderBy) {
    // A whole number is the place of a column.
    const isPlace = by.kind === 'literal' && typeof by.value === 'number'
    const expression = isPlace ? columns[Number(by.value) - 1]?.expression : by
    if (expression === undefined) throw new SqlError('an ORDER BY term is out of range')
    const order = compareValues(valueOf(expression, one), valueOf(expression, other))
    if (order !== 0) return isDescending ? -order : order
  }
  return 0
}
