/** `$dbx` and `$app.db()`: expressions and statements of SQL. The server runs them on the read model. */
import { fill, fillList } from './dynamic-model.ts'
import { call } from './link.ts'
import { textOf } from './record.ts'

type Row = Record<string, unknown>
type Parameters = Readonly<Record<string, unknown>>

/** A condition, as SQL. */
export class Expression {
  readonly sql: string

  constructor(sql: string) {
    this.sql = sql
  }

  /** The sides of the text of `like` that may have more. */
  match(left: boolean, right: boolean): Expression {
    return new Expression(this.sql.replaceAll("'%", left ? "'%" : "'").replaceAll("%'", right ? "%'" : "'"))
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  return `'${textOf(value).replaceAll("'", "''")}'`
}

function quoted(name: string): string {
  return /^[\w.]+$/.test(name)
    ? name
        .split('.')
        .map((part) => `\`${part}\``)
        .join('.')
    : name
}

/** With the values of `{:name}`, and the quotes of `[[column]]` and `{{table}}`. */
function bound(sql: string, parameters: Parameters = {}): string {
  return sql
    .replace(/\[\[([^\]]+)\]\]|\{\{([^}]+)\}\}/g, (_, column: string, table: string) => quoted(column ?? table))
    .replace(/\{:(\w+)\}/g, (whole, name: string) =>
      Object.hasOwn(parameters, name) ? literal(parameters[name]) : whole,
    )
}

function joined(word: 'AND' | 'OR', all: readonly (Expression | undefined)[]): Expression {
  const some = all.filter((one) => one !== undefined && one.sql !== '')
  if (some.length === 1) return some[0]!
  return new Expression(some.map((one) => `(${one!.sql})`).join(` ${word} `))
}

function like(word: 'AND' | 'OR', isNot: boolean): (column: string, ...values: readonly string[]) => Expression {
  return (column, ...values) => {
    const one = (value: string): string => literal(`%${value}%`)
    const conditions = values.map((value) => `${quoted(column)} ${isNot ? 'NOT ' : ''}LIKE ${one(value)}`)
    return new Expression(conditions.join(` ${word} `))
  }
}

function among(isNot: boolean): (column: string, ...values: readonly unknown[]) => Expression {
  return (column, ...values) => {
    if (values.length === 0) return new Expression(isNot ? '' : '0=1')
    return new Expression(`${quoted(column)} ${isNot ? 'NOT ' : ''}IN (${values.map(literal).join(', ')})`)
  }
}

function equals([column, value]: readonly [string, unknown]): Expression {
  if (value instanceof Expression) return new Expression(`(${value.sql})`)
  if (Array.isArray(value)) return DBX.in(column, ...(value as unknown[]))
  return new Expression(value === null ? `${quoted(column)} IS NULL` : `${quoted(column)}=${literal(value)}`)
}

type Among = (column: string, ...values: readonly unknown[]) => Expression
type Like = (column: string, ...values: readonly string[]) => Expression

export const DBX = {
  exp: (sql: string, parameters: Parameters = {}): Expression => new Expression(bound(sql, parameters)),
  hashExp: (values: Parameters): Expression => joined('AND', Object.entries(values).map(equals)),
  not: ({ sql }: Expression): Expression => new Expression(`NOT (${sql})`),
  and: (...all: readonly Expression[]): Expression => joined('AND', all),
  or: (...all: readonly Expression[]): Expression => joined('OR', all),
  in: among(false) as Among,
  notIn: among(true) as Among,
  like: like('AND', false) as Like,
  orLike: like('OR', false) as Like,
  notLike: like('AND', true) as Like,
  orNotLike: like('OR', true) as Like,
  exists: ({ sql }: Expression): Expression => new Expression(`EXISTS (${sql})`),
  notExists: ({ sql }: Expression): Expression => new Expression(`NOT EXISTS (${sql})`),
  between: (column: string, from: unknown, to: unknown): Expression =>
    new Expression(`${quoted(column)} BETWEEN ${literal(from)} AND ${literal(to)}`),
  notBetween: (column: string, from: unknown, to: unknown): Expression =>
    new Expression(`${quoted(column)} NOT BETWEEN ${literal(from)} AND ${literal(to)}`),
}

/** A statement, and what is done with its rows. `target`: the app that runs it. */
export class Query {
  readonly #target: string
  readonly #sql: string
  #parameters: Parameters = {}

  constructor(target: string, sql: string) {
    this.#target = target
    this.#sql = sql
  }

  sql(): string {
    return bound(this.#sql, this.#parameters)
  }

  bind(parameters: Parameters): this {
    this.#parameters = parameters
    return this
  }

  execute(): { rowsAffected(): number; lastInsertId(): number } {
    const affected = call(this.#target, 'execute', this.sql()) as number
    return { rowsAffected: () => affected, lastInsertId: () => 0 }
  }

  rows(): Row[] {
    return call(this.#target, 'query', this.sql()) as Row[]
  }

  all(list: unknown[]): void {
    fillList(list, this.rows())
  }

  one(model: object): void {
    fill(model, this.#first())
  }

  row(...targets: readonly Row[]): void {
    for (const [at, value] of Object.values(this.#first()).entries()) Object.assign(targets[at] ?? {}, { value })
  }

  column(list: unknown[]): void {
    list.splice(0, list.length, ...this.rows().map((row) => Object.values(row)[0]))
  }

  #first(): Row {
    return call(this.#target, 'firstRow', this.sql()) as Row
  }
}

/** `$app.db().select(…)`: a SELECT in parts. */
export class SelectQuery {
  readonly #target: string
  readonly #parts = {
    columns: [] as string[],
    from: [] as string[],
    joins: '',
    groups: [] as string[],
    orders: [] as string[],
  }
  #where: Expression | undefined
  #having: Expression | undefined
  #isDistinct = false
  #limit = -1
  #offset = 0
  #parameters: Parameters = {}

  constructor(target: string, columns: readonly string[]) {
    this.#target = target
    this.#parts.columns.push(...columns)
  }

  select(...columns: readonly string[]): this {
    this.#parts.columns.splice(0, Infinity, ...columns)
    return this
  }

  andSelect(...columns: readonly string[]): this {
    this.#parts.columns.push(...columns)
    return this
  }

  distinct(isDistinct = true): this {
    this.#isDistinct = isDistinct
    return this
  }

  from(...tables: readonly string[]): this {
    this.#parts.from.push(...tables)
    return this
  }

  join(kind: string, table: string, on: Expression): this {
    this.#parts.joins += ` ${kind} ${named(table)} ON ${on.sql}`
    return this
  }

  innerJoin(table: string, on: Expression): this {
    return this.join('INNER JOIN', table, on)
  }

  leftJoin(table: string, on: Expression): this {
    return this.join('LEFT JOIN', table, on)
  }

  where(condition: Expression): this {
    this.#where = condition
    return this
  }

  andWhere(condition: Expression): this {
    this.#where = joined('AND', [this.#where, condition])
    return this
  }

  orWhere(condition: Expression): this {
    this.#where = joined('OR', [this.#where, condition])
    return this
  }

  groupBy(...columns: readonly string[]): this {
    this.#parts.groups.push(...columns)
    return this
  }

  having(condition: Expression): this {
    this.#having = condition
    return this
  }

  orderBy(...columns: readonly string[]): this {
    this.#parts.orders.splice(0, Infinity, ...columns)
    return this
  }

  andOrderBy(...columns: readonly string[]): this {
    this.#parts.orders.push(...columns)
    return this
  }

  limit(count: number): this {
    this.#limit = count
    return this
  }

  offset(count: number): this {
    this.#offset = count
    return this
  }

  bind(parameters: Parameters): this {
    this.#parameters = parameters
    return this
  }

  build(): Query {
    const { columns, from, joins, groups, orders } = this.#parts
    const condition = (word: string, { sql }: Expression = new Expression('')): string =>
      sql === '' ? '' : ` ${word} ${sql}`
    const limit = this.#limit < 0 && this.#offset === 0 ? '' : ` LIMIT ${this.#limit} OFFSET ${this.#offset}`
    const list = (word: string, all: readonly string[]): string =>
      all.length === 0 ? '' : ` ${word} ${all.join(', ')}`
    const chosen = columns.length === 0 ? '*' : columns.map(named).join(', ')
    return new Query(
      this.#target,
      `SELECT ${this.#isDistinct ? 'DISTINCT ' : ''}${chosen} FROM ${from.map(named).join(', ')}${joins}` +
        `${condition('WHERE', this.#where)}${list('GROUP BY', groups.map(named))}${condition('HAVING', this.#having)}` +
        `${list('ORDER BY', orders)}${limit}`,
    ).bind(this.#parameters)
  }

  all(list: unknown[]): void {
    this.build().all(list)
  }

  one(model: object): void {
    this.limit(1).build().one(model)
  }

  column(list: unknown[]): void {
    this.build().column(list)
  }

  row(...targets: readonly Row[]): void {
    this.limit(1)
      .build()
      .row(...targets)
  }
}

/** A name as it is: `posts p`, `count(*) as total` and `[[id]]` stay. */
function named(name: string): string {
  return bound(/^[\w.]+$/.test(name) ? quoted(name) : name)
}
