/** The SELECT of a view, as a plan. docs/internals/backend-views.md says what is in the subset. */
import { SqlReader, type SqlExpression } from '../sql/expression.ts'
import { SqlError } from '../sql/tokens.ts'

export interface SelectColumn {
  readonly expression: SqlExpression
  /** As it stands in the query. */
  readonly text: string
  readonly name: string
}

export interface SelectTable {
  readonly name: string
  readonly alias: string
}

export interface SelectJoin {
  readonly table: SelectTable
  /** Rows without a partner stay. */
  readonly isLeft: boolean
  readonly on: SqlExpression | undefined
}

interface SelectOrder {
  readonly by: SqlExpression
  readonly isDescending: boolean
}

export interface Select {
  readonly isDistinct: boolean
  readonly columns: readonly SelectColumn[]
  /** Undefined: one row of constants. */
  readonly from: SelectTable | undefined
  readonly joins: readonly SelectJoin[]
  readonly where: SqlExpression | undefined
  readonly groupBy: readonly SqlExpression[]
  readonly having: SqlExpression | undefined
  readonly orderBy: readonly SelectOrder[]
  readonly limit: number | undefined
  readonly offset: number
}

/** @throws SqlError */
export function parseSelect(query: string): Select {
  const reader = new SqlReader(query.trim().replace(/(?:;\s*)+$/, ''))
  if (reader.is('with')) throw new SqlError('WITH is not supported')
  reader.expect('select')
  const isDistinct = reader.takes('distinct')
  const columns = listOf(reader, column)
  const from = reader.takes('from') ? table(reader) : undefined
  const joins: SelectJoin[] = []
  for (let join = from && joinOf(reader); join !== undefined; join = joinOf(reader)) joins.push(join)
  const where = reader.takes('where') ? reader.expression() : undefined
  const groupBy = reader.takes('group', 'by') ? listOf(reader, (each) => each.expression()) : []
  const having = reader.takes('having') ? reader.expression() : undefined
  const orderBy = reader.takes('order', 'by') ? listOf(reader, order) : []
  const limit = reader.takes('limit') ? integer(reader) : undefined
  const offset = limit !== undefined && reader.takes('offset') ? integer(reader) : 0
  for (const word of ['union', 'intersect', 'except', 'window'])
    if (reader.is(word)) throw new SqlError(`${word.toUpperCase()} is not supported`)
  if (reader.is(';')) throw MANY
  reader.expectEnd()
  return { isDistinct, columns, from, joins, where, groupBy, having, orderBy, limit, offset }
}

const MANY = new SqlError('multiple statements are not supported')

function listOf<T>(reader: SqlReader, each: (reader: SqlReader) => T): T[] {
  const list = [each(reader)]
  while (reader.takes(',')) list.push(each(reader))
  return list
}

function column(reader: SqlReader): SelectColumn {
  const start = reader.token.from
  if (reader.takes('*')) throw WILDCARD
  const expression = reader.expression()
  if (reader.is('*')) throw WILDCARD
  const text = reader.text.slice(start, reader.end)
  const isNamed = reader.takes('as')
  const name =
    isNamed || reader.token.kind === 'text' || isAlias(reader) ? reader.next().value : nameOf(expression, text)
  return { expression, text, name }
}

const WILDCARD = new SqlError(
  'wildcard columns (*) are not supported - manually type the collection field names you want the view query to have',
)

/** Words that may follow a column or a table. */
const CLAUSES: ReadonlySet<string> = new Set(
  'from where group having order limit on join inner left right full cross outer natural union intersect except window using'.split(
    ' ',
  ),
)

function isAlias({ token: { kind, value, isQuoted } }: SqlReader): boolean {
  return kind === 'name' && (isQuoted || !CLAUSES.has(value.toLowerCase()))
}

function nameOf(expression: SqlExpression, text: string): string {
  return expression.kind === 'column' ? expression.name : text
}

function table(reader: SqlReader): SelectTable {
  if (reader.is('(')) throw new SqlError('queries in queries are not supported')
  const name = reader.name()
  const hasAlias = reader.takes('as') || isAlias(reader)
  return { name, alias: hasAlias ? reader.name() : name }
}

function joinOf(reader: SqlReader): SelectJoin | undefined {
  if (reader.takes(',')) return { table: table(reader), isLeft: false, on: undefined }
  const isLeft = reader.takes('left', 'outer') || reader.takes('left')
  const isInner = !isLeft && (reader.takes('inner') || reader.takes('cross'))
  for (const word of ['right', 'full', 'natural', 'outer'])
    if (reader.is(word)) throw new SqlError(`${word.toUpperCase()} JOIN is not supported`)
  if (!reader.takes('join')) {
    if (isLeft || isInner) throw reader.unexpected()
    return undefined
  }
  const joined = table(reader)
  if (reader.is('using')) throw new SqlError('USING is not supported')
  return { table: joined, isLeft, on: reader.takes('on') ? reader.expression() : undefined }
}

function order(reader: SqlReader): SelectOrder {
  const by = reader.expression()
  const isDescending = reader.takes('desc')
  if (!isDescending) reader.takes('asc')
  return { by, isDescending }
}

function integer(reader: SqlReader): number {
  const { kind, value } = reader.next()
  if (kind !== 'number' || !/^\d+$/.test(value)) throw new SqlError('LIMIT and OFFSET take whole numbers')
  return Number(value)
}
