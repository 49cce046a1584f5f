/** Values as SQLite compares them, since PocketBase's rules are conditions of SQL. */

/** A value of SQLite. Booleans are 1 and 0, lists and objects are their JSON. */
export type SqlValue = string | number | null

/** The conversion that a column makes of the value that it is compared with. */
export type Affinity = 'text' | 'number' | 'none'

/** `null` is SQL's NULL. */
export type Truth = boolean | null

export type Order = '=' | '<' | '<=' | '>' | '>='

/** A value with what affects how it is compared. `real`: its text has a fraction, `5.0`. */
export interface Typed {
  readonly value: SqlValue
  readonly affinity: Affinity
  readonly real: boolean
}

export function compare(left: Typed, order: Order, right: Typed): Truth {
  if (left.value === null || right.value === null) return null
  const sign = orderOf(convert(left, right.affinity), convert(right, left.affinity))
  switch (order) {
    case '=':
      return sign === 0
    case '<':
      return sign < 0
    case '<=':
      return sign <= 0
    case '>':
      return sign > 0
    default:
      return sign >= 0
  }
}

/** `IS`: NULL equals NULL. */
export function isSame(left: Typed, right: Typed): boolean {
  return left.value === null || right.value === null ? left.value === right.value : compare(left, '=', right) === true
}

export function like(value: Typed, pattern: Typed): Truth {
  if (value.value === null || pattern.value === null) return null
  return matches(foldAscii(textOf(value)), foldAscii(textOf(pattern)))
}

/** `%value%`, in which `%` and `_` of a column are wildcards. */
export function around(of: Typed): SqlValue {
  return of.value === null ? null : `%${textOf(of)}%`
}

/** The pattern of a text of the caller. Without a `%` of its own, it is wrapped, and `_` stands for itself. */
export function patternOf(text: string): string {
  return hasWildcard(text) ? text : `%${escapeLike(text)}%`
}

export function lower(of: Typed): SqlValue {
  return of.value === null ? null : foldAscii(textOf(of))
}

export function textOf({ value, real }: Typed): string {
  return typeof value !== 'number' ? String(value) : real || !Number.isInteger(value) ? realText(value) : bigText(value)
}

/** The number that SQLite reads in a text, or undefined. */
export function numberIn(text: string): number | undefined {
  return /^[ \t-\r]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[ \t-\r]*$/i.test(text) ? Number(text) : undefined
}

/** As the affinity of the other side converts it. A column of texts or numbers keeps what it has. */
export function convert({ value, affinity, real }: Typed, other: Affinity): string | number {
  if (typeof value === 'string') return other === 'number' && affinity !== 'number' ? (numberIn(value) ?? value) : value
  return other === 'text' && affinity === 'none' ? textOf({ value, affinity, real }) : value!
}

/** NULL comes first, then numbers. */
export function compareSorted(one: SqlValue, other: SqlValue): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  return orderOf(one, other)
}

function orderOf(one: string | number, other: string | number): number {
  if (typeof one === 'number') return typeof other === 'number' ? one - other : -1
  return typeof other === 'number' ? 1 : orderOfTexts(one, other)
}

/** The order of UTF-8. It is that of UTF-16 except for surrogates. */
function orderOfTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let i = 0; i < length; i++) {
    const a = one.charCodeAt(i)
    const b = other.charCodeAt(i)
    if (a !== b) return rankOf(a) - rankOf(b)
  }
  return one.length - other.length
}

/** The rank of a code. Surrogates stand for characters behind all others. */
function rankOf(code: number): number {
  return code >= 0xd800 && code < 0xe000 ? code + 0x10000 : code
}

function bigText(value: number): string {
  return Math.abs(value) < 2 ** 63 ? BigInt(value).toString() : realText(value)
}

/** As `%!.17g` of SQLite: 17 digits at most, and always a fraction. */
function realText(value: number): string {
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e17)) return Number.isInteger(value) ? `${BigInt(value)}.0` : String(value)
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const scale = exponent.slice(1).padStart(2, '0')
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${exponent[0]}${scale}`
}

function foldAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function hasWildcard(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '%') return true
    // Passes what is escaped.
    if (text[i] === '\\' && (text[i + 1] === '%' || text[i + 1] === '\\')) i++
  }
  return false
}

/** The text escaped for LIKE: a backslash stands before each `\`, `%` and `_` that has none before it. */
function escapeLike(text: string): string {
  let escaped = ''
  let pending = false
  for (let i = text.length - 1; i >= 0; i--) {
    const character = text[i]!
    if (pending) {
      if (character !== '\\') escaped = `\\${escaped}`
      pending = false
    } else pending = character === '\\' || character === '%' || character === '_'
    escaped = character + escaped
  }
  return pending ? `\\${escaped}` : escaped
}

/** Whether a text matches a pattern of SQLite's LIKE with the escape `\`. It returns to the last `%` only. */
function matches(text: string, pattern: string): boolean {
  let [at, to, percent, retry] = [0, 0, -1, 0]
  while (at < text.length) {
    const wild = pattern[to]
    if (wild === '%') {
      percent = to++
      retry = at
      continue
    }
    const isEscaped = wild === '\\'
    const expected = isEscaped ? pattern[to + 1] : wild
    if (expected !== undefined && ((wild === '_' && !isEscaped) || expected === text[at])) {
      at += wild === '_' ? (text.codePointAt(at)! > 0xffff ? 2 : 1) : 1
      to += isEscaped ? 2 : 1
      continue
    }
    if (percent < 0) return false
    to = percent + 1
    at = ++retry
  }
  while (pattern[to] === '%') to++
  return to === pattern.length
}

/** With sorted keys, as Go writes objects. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
