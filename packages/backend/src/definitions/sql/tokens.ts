/** Words of SQL. */

export interface Token {
  /** `name`: a word or a quoted name; `sign`: an operator or a parenthesis. */
  readonly kind: 'name' | 'text' | 'number' | 'sign' | 'end'
  readonly value: string
  /** A name in quotes is no keyword. */
  readonly isQuoted: boolean
  /** Where it begins and ends in the text. */
  readonly from: number
  readonly to: number
}

/** What SQLite would refuse, or what is not in the subset. */
export class SqlError extends Error {}

const SPACE = /(?:\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y
const TOKENS: readonly (readonly [kind: Token['kind'], pattern: RegExp])[] = [
  ['name', /[a-z_]\w*/iy],
  ['number', /\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+/iy],
  ['text', /'(?:[^']|'')*'/y],
  ['name', /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/y],
  ['sign', /\|\||==|<>|<=|>=|!=|[=<>+\-*/%(),.;]/y],
]

/** @throws SqlError */
export function scan(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const token = tokenAt(text, at)
    tokens.push(token)
    at = token.to
  }
  return [...tokens, { kind: 'end', value: '', isQuoted: false, from: text.length, to: text.length }]
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  return SPACE.test(text) ? SPACE.lastIndex : at
}

function tokenAt(text: string, from: number): Token {
  for (const [kind, pattern] of TOKENS) {
    pattern.lastIndex = from
    const [found] = pattern.exec(text) ?? []
    if (found === undefined) continue
    const isQuoted = /^["`[]/.test(found)
    return {
      kind,
      value: isQuoted || kind === 'text' ? unquote(found) : found,
      isQuoted,
      from,
      to: from + found.length,
    }
  }
  throw new SqlError(`unrecognized token: "${text.slice(from, from + 1)}"`)
}

function unquote(text: string): string {
  const quote = text.at(-1)!
  const inner = text.slice(1, -1)
  return quote === ']' ? inner : inner.replaceAll(quote + quote, quote)
}
