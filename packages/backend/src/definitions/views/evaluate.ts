/** The value of an expression for a row, as SQLite has it: null is not known, true is 1. */
import { ownValue } from '../../fields/field-types.ts'
import { isMany, type FieldDefinition } from '../../fields/field-definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { isSameName } from '../index-statement.ts'
import type { SqlExpression } from '../sql/expression.ts'
import { AGGREGATES, asNumber, compareValues, FUNCTIONS, isAggregate, type SqlValue } from './functions.ts'
import type { ViewTable } from './view-plan.ts'

/** A document of each table; null: a left join has found none. */
export type JoinedRow = readonly (JsonObject | null)[]

/** What an expression is asked about. */
export interface RowScope {
  readonly tables: readonly ViewTable[]
  readonly row: JoinedRow
  /** The rows of its group. */
  readonly group: readonly JoinedRow[]
  /** From 1. */
  readonly number: number
  /** Columns of the query, by their names in lower case. */
  readonly aliases: ReadonlyMap<string, SqlExpression>
}

export function valueOf(expression: SqlExpression, scope: RowScope): SqlValue {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'boolean' ? Number(expression.value) : expression.value
    case 'column': {
      const found = findColumn(expression, scope.tables)
      if (found !== undefined) return sqlValue(found.field, storedValue(scope.row[found.place] ?? null, found.field))
      return valueOf(scope.aliases.get(expression.name.toLowerCase())!, { ...scope, aliases: NO_ALIASES })
    }
    case 'not': {
      const value = truthOf(expression.of, scope)
      return value === null ? null : Number(!value)
    }
    case 'negative': {
      const value = valueOf(expression.of, scope)
      return value === null ? null : -asNumber(value)
    }
    case 'binary':
      return binary(expression, scope)
    case 'in':
      return isIn(expression, scope)
    case 'cast':
      return cast(valueOf(expression.of, scope), expression.type)
    case 'case': {
      const found = expression.whens.find(([when]) => truthOf(when, scope) === true)
      return valueOf(found?.[1] ?? expression.otherwise, scope)
    }
    case 'call':
      return call(expression, scope)
  }
}

const NO_ALIASES: ReadonlyMap<string, SqlExpression> = new Map()

/** Null: not known. */
export function truthOf(expression: SqlExpression, scope: RowScope): boolean | null {
  const value = valueOf(expression, scope)
  return value === null ? null : asNumber(value) !== 0
}

/** The field that a column of a query is, and the place of its table. */
export function findColumn(
  { table, name }: { readonly table: string; readonly name: string },
  tables: readonly ViewTable[],
): { readonly place: number; readonly field: FieldDefinition } | undefined {
  for (const [place, { alias, definition }] of tables.entries()) {
    const field = definition.fields.find((one) => isSameName(one.name, name))
    if (field !== undefined && (table === '' || isSameName(alias, table))) return { place, field }
  }
  return undefined
}

/** Undefined: there is no document. */
export function storedValue(document: JsonObject | null, { name }: FieldDefinition): unknown {
  return ownValue(document ?? undefined, name === 'id' ? '_id' : name)
}

/** As a column of PocketBase's table has it. */
export function sqlValue(field: FieldDefinition, value: unknown): SqlValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'number') return value
  return typeof value === 'string' && field.type !== 'json' && !isMany(field) ? value : JSON.stringify(value)
}

type Of<Kind extends SqlExpression['kind']> = Extract<SqlExpression, { kind: Kind }>

function binary({ operator, left, right }: Of<'binary'>, scope: RowScope): SqlValue {
  if (operator === 'and' || operator === 'or') {
    const decisive = operator === 'or'
    const one = truthOf(left, scope)
    if (one === decisive) return Number(decisive)
    const other = truthOf(right, scope)
    if (other === decisive) return Number(decisive)
    return one === null || other === null ? null : Number(!decisive)
  }
  const [one, other] = [valueOf(left, scope), valueOf(right, scope)]
  if (operator === 'is' || operator === 'is not') return Number((compare(one, other) === 0) === (operator === 'is'))
  if (one === null || other === null) return null
  switch (operator) {
    case '=':
      return Number(compare(one, other) === 0)
    case '!=':
      return Number(compare(one, other) !== 0)
    case '<':
      return Number(compare(one, other) < 0)
    case '<=':
      return Number(compare(one, other) <= 0)
    case '>':
      return Number(compare(one, other) > 0)
    case '>=':
      return Number(compare(one, other) >= 0)
    case 'like':
      return Number(isLike(String(one), String(other)))
    case '||':
      return String(one) + String(other)
    case '+':
      return asNumber(one) + asNumber(other)
    case '-':
      return asNumber(one) - asNumber(other)
    case '*':
      return asNumber(one) * asNumber(other)
    case '/':
      return divide(asNumber(one), asNumber(other))
    case '%':
      return asNumber(other) === 0 ? null : Math.trunc(asNumber(one)) % Math.trunc(asNumber(other))
  }
}

/** A text that is a number is compared as one with numbers. */
function compare(one: SqlValue, other: SqlValue): number {
  if (typeof one === 'number' && isNumeric(other)) return one - asNumber(other)
  if (typeof other === 'number' && isNumeric(one)) return asNumber(one) - other
  return compareValues(one, other)
}

function isNumeric(value: SqlValue): boolean {
  return typeof value === 'string' && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(value)
}

/** Whole numbers give a whole number. */
function divide(one: number, other: number): SqlValue {
  if (other === 0) return null
  return Number.isInteger(one) && Number.isInteger(other) ? Math.trunc(one / other) : one / other
}

/** `%` is any text, `_` any character; upper and lower case of ASCII are the same. Never slower than length times pattern. */
function isLike(value: string, pattern: string): boolean {
  const letters = Array.from(asciiLower(value))
  let places = new Uint8Array(letters.length + 1)
  places[0] = 1
  for (const sign of asciiLower(pattern)) {
    const next = new Uint8Array(letters.length + 1)
    for (let at = 0; at <= letters.length; at++) {
      if (sign === '%') next[at] = places[at]! | (at > 0 ? next[at - 1]! : 0)
      else if (at > 0 && places[at - 1] === 1 && (sign === '_' || sign === letters[at - 1])) next[at] = 1
    }
    places = next
  }
  return places.at(-1) === 1
}

function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isIn({ of, list }: Of<'in'>, scope: RowScope): SqlValue {
  const value = valueOf(of, scope)
  if (value === null && list.length > 0) return null
  const values = list.map((each) => valueOf(each, scope))
  if (values.some((each) => each !== null && compare(value, each) === 0)) return 1
  return values.includes(null) ? null : 0
}

function cast(value: SqlValue, type: string): SqlValue {
  if (value === null) return null
  if (type === 'text') return String(value)
  if (type === 'int' || type === 'integer') return Math.trunc(asNumber(value))
  return asNumber(value)
}

function call(expression: Of<'call'>, scope: RowScope): SqlValue {
  const { name, of, isDistinct, isWindow } = expression
  if (isWindow) return scope.number
  if (!isAggregate(expression)) return FUNCTIONS.get(name)!(...of.map((each) => valueOf(each, scope)))
  if (of.length === 0) return scope.group.length
  const values = scope.group.flatMap((row) => {
    const value = valueOf(of[0]!, { ...scope, row })
    return value === null ? [] : [value]
  })
  return AGGREGATES.get(name)!(isDistinct ? [...new Set(values)] : values)
}
