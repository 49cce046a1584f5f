/** Expressions of SQL: of WHERE clauses, columns of views, and indexes. */
import { scan, SqlError, type Token } from './tokens.ts'

type Literal = string | number | boolean | null

type BinaryOperator =
  | 'and'
  | 'or'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'is'
  | 'is not'
  | 'like'
  | '||'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'

export type SqlExpression =
  | { readonly kind: 'column'; readonly table: string; readonly name: string }
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'not' | 'negative'; readonly of: SqlExpression }
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: SqlExpression
      readonly right: SqlExpression
    }
  | { readonly kind: 'in'; readonly of: SqlExpression; readonly list: readonly SqlExpression[] }
  | { readonly kind: 'cast'; readonly of: SqlExpression; readonly type: string }
  | {
      readonly kind: 'case'
      readonly whens: readonly (readonly [when: SqlExpression, then: SqlExpression])[]
      readonly otherwise: SqlExpression
    }
  | {
      readonly kind: 'call'
      /** In lower case. */
      readonly name: string
      /** `count(*)` has none. */
      readonly of: readonly SqlExpression[]
      readonly isDistinct: boolean
      /** `OVER ()` */
      readonly isWindow: boolean
    }

const NULL: SqlExpression = { kind: 'literal', value: null }
const DEPTH_MAX = 100

/** Binding powers, weakest first. */
const OPERATORS: readonly ReadonlySet<string>[] = [
  new Set(['or']),
  new Set(['and']),
  new Set(['=', '==', '!=', '<>', 'is', 'in', 'like', 'between', 'not', 'isnull', 'notnull']),
  new Set(['<', '<=', '>', '>=']),
  new Set(['+', '-']),
  new Set(['*', '/', '%']),
  new Set(['||']),
]
const COMPARISON_LEVEL = 2

/** Reads tokens, one after another. */
export class SqlReader {
  readonly text: string
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  /** @throws SqlError */
  constructor(text: string) {
    this.text = text
    this.#tokens = scan(text)
  }

  get token(): Token {
    return this.#tokens[this.#at]!
  }

  /** Where the last token ended. */
  get end(): number {
    return this.#tokens[this.#at - 1]?.to ?? 0
  }

  next(): Token {
    return this.#tokens[this.#at++] ?? this.token
  }

  /** Whether the next token is this keyword or sign. */
  is(word: string): boolean {
    const { kind, value, isQuoted } = this.token
    return !isQuoted && (kind === 'name' || kind === 'sign') && value.toLowerCase() === word
  }

  /** Takes the words if they come next. */
  takes(...words: readonly string[]): boolean {
    const start = this.#at
    for (const word of words) {
      if (!this.is(word)) {
        this.#at = start
        return false
      }
      this.#at++
    }
    return true
  }

  /** @throws SqlError */
  expect(word: string): void {
    if (!this.takes(word)) throw this.unexpected()
  }

  /** @throws SqlError */
  expectEnd(): void {
    if (this.token.kind !== 'end') throw this.unexpected()
  }

  name(): string {
    if (this.token.kind !== 'name') throw this.unexpected()
    return this.next().value
  }

  unexpected(): SqlError {
    const { kind, value } = this.token
    return new SqlError(kind === 'end' ? 'incomplete input' : `near "${value}": syntax error`)
  }

  /** @throws SqlError */
  expression(): SqlExpression {
    return this.#level(0)
  }

  #level(level: number): SqlExpression {
    if (++this.#depth > DEPTH_MAX * OPERATORS.length) throw new SqlError('the expression is too deep')
    try {
      if (level === OPERATORS.length) return this.#operand()
      if (level === COMPARISON_LEVEL && this.takes('not')) return { kind: 'not', of: this.#level(level) }
      let left = this.#level(level + 1)
      while (this.#isOperator(level)) left = this.#binary(left, level)
      return left
    } finally {
      this.#depth--
    }
  }

  #isOperator(level: number): boolean {
    const { kind, value, isQuoted } = this.token
    return !isQuoted && (kind === 'name' || kind === 'sign') && OPERATORS[level]!.has(value.toLowerCase())
  }

  #binary(left: SqlExpression, level: number): SqlExpression {
    const operator = this.next().value.toLowerCase()
    const right = (): SqlExpression => this.#level(level + 1)
    switch (operator) {
      case 'is':
        return { kind: 'binary', operator: this.takes('not') ? 'is not' : 'is', left, right: right() }
      case 'isnull':
        return { kind: 'binary', operator: 'is', left, right: NULL }
      case 'notnull':
        return { kind: 'binary', operator: 'is not', left, right: NULL }
      case 'not':
        if (this.takes('null')) return { kind: 'binary', operator: 'is not', left, right: NULL }
        if (!this.is('in') && !this.is('like') && !this.is('between')) throw this.unexpected()
        return { kind: 'not', of: this.#binary(left, level) }
      case 'in':
        return { kind: 'in', of: left, list: this.#list() }
      case 'between': {
        const low = right()
        this.expect('and')
        const high = right()
        const from: SqlExpression = { kind: 'binary', operator: '>=', left, right: low }
        return {
          kind: 'binary',
          operator: 'and',
          left: from,
          right: { kind: 'binary', operator: '<=', left, right: high },
        }
      }
      default: {
        const same: Readonly<Record<string, string>> = { '==': '=', '<>': '!=' }
        return { kind: 'binary', operator: (same[operator] ?? operator) as BinaryOperator, left, right: right() }
      }
    }
  }

  #list(): readonly SqlExpression[] {
    this.expect('(')
    const list: SqlExpression[] = []
    while (!this.takes(')')) {
      if (this.is('select')) throw new SqlError('queries in queries are not supported')
      if (list.length > 0) this.expect(',')
      list.push(this.expression())
    }
    return list
  }

  #operand(): SqlExpression {
    const { kind, value, isQuoted } = this.token
    if (kind === 'text' || kind === 'number') {
      this.next()
      return { kind: 'literal', value: kind === 'text' ? value : Number(value) }
    }
    if (this.takes('-')) return { kind: 'negative', of: this.#operand() }
    if (this.takes('+')) return this.#operand()
    if (this.takes('(')) return this.#inParentheses()
    if (kind !== 'name') throw this.unexpected()
    if (!isQuoted) {
      if (this.takes('null')) return NULL
      if (this.takes('true')) return { kind: 'literal', value: true }
      if (this.takes('false')) return { kind: 'literal', value: false }
      if (this.takes('case')) return this.#case()
      if (this.takes('cast', '(')) return this.#cast()
    }
    const name = this.name()
    if (!isQuoted && this.takes('(')) return this.#call(name.toLowerCase())
    return this.takes('.') ? { kind: 'column', table: name, name: this.name() } : { kind: 'column', table: '', name }
  }

  #inParentheses(): SqlExpression {
    if (this.is('select')) throw new SqlError('queries in queries are not supported')
    const of = this.expression()
    this.expect(')')
    return of
  }

  #case(): SqlExpression {
    const of = this.is('when') ? undefined : this.expression()
    const whens: [SqlExpression, SqlExpression][] = []
    while (this.takes('when')) {
      const when = this.expression()
      this.expect('then')
      whens.push([
        of === undefined ? when : { kind: 'binary', operator: '=', left: of, right: when },
        this.expression(),
      ])
    }
    if (whens.length === 0) throw this.unexpected()
    const otherwise = this.takes('else') ? this.expression() : NULL
    this.expect('end')
    return { kind: 'case', whens, otherwise }
  }

  #cast(): SqlExpression {
    const of = this.expression()
    this.expect('as')
    const type = this.name().toLowerCase()
    this.expect(')')
    return { kind: 'cast', of, type }
  }

  #call(name: string): SqlExpression {
    const isDistinct = this.takes('distinct')
    const of: SqlExpression[] = []
    if (!this.takes('*', ')')) {
      while (!this.takes(')')) {
        if (of.length > 0) this.expect(',')
        of.push(this.expression())
      }
    }
    const isWindow = this.takes('over', '(')
    if (isWindow && !this.takes(')')) throw new SqlError('OVER with an order or partition is not supported')
    return { kind: 'call', name, of, isDistinct, isWindow }
  }
}

/** The names of the columns in it. */
export function columnsOf(expression: SqlExpression): readonly { readonly table: string; readonly name: string }[] {
  switch (expression.kind) {
    case 'column':
      return [expression]
    case 'literal':
      return []
    case 'not':
    case 'negative':
    case 'cast':
      return columnsOf(expression.of)
    case 'binary':
      return [...columnsOf(expression.left), ...columnsOf(expression.right)]
    case 'in':
      return [expression.of, ...expression.list].flatMap(columnsOf)
    case 'case':
      return [...expression.whens.flat(), expression.otherwise].flatMap(columnsOf)
    case 'call':
      return expression.of.flatMap(columnsOf)
  }
}
