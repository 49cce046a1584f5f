/** A query of a view with the collections that it reads, checked. */
import type { Definition } from '../definition.ts'
import { isSameName } from '../index-statement.ts'
import { columnsOf, type SqlExpression } from '../sql/expression.ts'
import { SqlError } from '../sql/tokens.ts'
import { AGGREGATES, FUNCTIONS } from './functions.ts'
import { parseSelect, type Select, type SelectTable } from './select.ts'

export interface ViewTable {
  readonly alias: string
  readonly definition: Definition
}

export interface ViewPlan {
  readonly select: Select
  /** The first is that of FROM; the others are joined in this order. */
  readonly tables: readonly ViewTable[]
}

/** @throws SqlError for what SQLite would refuse, and for what is not in the subset */
export function planOf(query: string, all: readonly Definition[]): ViewPlan {
  const select = parseSelect(query)
  const { from, joins } = select
  const named = from === undefined ? [] : [from, ...joins.map(({ table }) => table)]
  const plan = { select, tables: named.map((table) => tableOf(table, all)) }
  const aliases = new Set(select.columns.map(({ name }) => name.toLowerCase()))
  for (const { expression } of select.columns) checkExpression(expression, plan, NONE, true)
  for (const { on } of select.joins) if (on !== undefined) checkExpression(on, plan, NONE, false)
  if (select.where !== undefined) checkExpression(select.where, plan, aliases, false)
  for (const by of select.groupBy) checkExpression(by, plan, aliases, false)
  if (select.having !== undefined) checkExpression(select.having, plan, aliases, true)
  for (const { by } of select.orderBy) checkExpression(by, plan, aliases, true)
  const names = select.columns.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new SqlError('two columns have the same name')
  return plan
}

/** As PocketBase has it: a column without table is one of the first. */
export function tableOfColumn({ tables }: ViewPlan, { table }: { readonly table: string }): ViewTable {
  return table === '' ? tables[0]! : tables.find(({ alias }) => isSameName(alias, table))!
}

const NONE: ReadonlySet<string> = new Set()

function tableOf({ name, alias }: SelectTable, all: readonly Definition[]): ViewTable {
  const definition = all.find((one) => isSameName(one.name, name))
  if (definition === undefined) throw new SqlError(`SQL logic error: no such table: main.${name} (1)`)
  return { alias, definition }
}

function checkExpression(
  expression: SqlExpression,
  { tables }: ViewPlan,
  aliases: ReadonlySet<string>,
  mayAggregate: boolean,
): void {
  for (const { table, name } of columnsOf(expression)) {
    if (table === '' && aliases.has(name.toLowerCase())) continue
    const full = table === '' ? name : `${table}.${name}`
    const candidates = tables.filter(
      ({ alias, definition }) =>
        (table === '' || isSameName(alias, table)) && definition.fields.some((field) => isSameName(field.name, name)),
    )
    if (candidates.length === 0) throw new SqlError(`SQL logic error: no such column: ${full} (1)`)
    if (candidates.length > 1) throw new SqlError(`SQL logic error: ambiguous column name: ${full} (1)`)
  }
  for (const { name, isWindow } of callsOf(expression)) {
    if (isWindow !== (name === 'row_number')) throw new SqlError(`misuse of window function ${name}()`)
    if (!FUNCTIONS.has(name) && !AGGREGATES.has(name) && name !== 'row_number')
      throw new SqlError(`SQL logic error: no such function: ${name} (1)`)
    if (AGGREGATES.has(name) && !mayAggregate) throw new SqlError(`misuse of aggregate: ${name}()`)
  }
}

type Call = Extract<SqlExpression, { kind: 'call' }>

/** The calls in an expression, the outer ones first. */
export function callsOf(expression: SqlExpression): readonly Call[] {
  switch (expression.kind) {
    case 'column':
    case 'literal':
      return []
    case 'not':
    case 'negative':
    case 'cast':
      return callsOf(expression.of)
    case 'binary':
      return [...callsOf(expression.left), ...callsOf(expression.right)]
    case 'in':
      return [expression.of, ...expression.list].flatMap(callsOf)
    case 'case':
      return [...expression.whens.flat(), expression.otherwise].flatMap(callsOf)
    case 'call':
      return [expression, ...expression.of.flatMap(callsOf)]
  }
}
