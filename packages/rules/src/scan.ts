/**
 * Reads tokens from a text, each character a fixed number of times. The grammar is that of fexpr 0.6, which PocketBase uses.
 */
import { RuleError } from './errors.ts'

export interface Token {
  readonly kind: 'name' | 'function' | 'text' | 'number' | 'operator' | 'join' | '(' | ')' | ',' | 'end'
  readonly at: number
  /** The text as meant: of a text in quotes, its content. */
  readonly value: string
}

const SIGNS = /^\??(=|!=|>=?|<=?|~|!~)$/
const JOINS = /^(&&|\|\|)$/
const INSTEAD = {
  '==': '=',
  '===': '=',
  '!==': '!=',
  '<>': '!=',
  '=<': '<=',
  '=>': '>=',
  '=~': '~',
  '!': '!=',
  '~=': '~',
  '&': '&&',
  '|': '||',
}
const ESCAPED = { n: '\n', r: '\r', t: '\t', '\\': '\\', "'": "'", '"': '"' }

export class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** `depth` is the number of open parentheses. */
  next(depth: number): Token {
    this.#skip(depth)
    const at = this.#at
    const first = this.#code()
    if (first === -1) return { kind: 'end', at, value: '' }
    if (isNameStart(first)) return this.#name()
    if (isDigit(first) || first === MINUS) return { kind: 'number', at, value: this.#numeral() }
    if (first === QUOTE || first === APOSTROPHE) return { kind: 'text', at, value: this.#quoted(first) }
    if (isSign(first)) return { kind: 'operator', at, value: oneOf(SIGNS, this.#run(isSign), at) }
    if (isJoin(first)) return { kind: 'join', at, value: oneOf(JOINS, this.#run(isJoin), at) }
    const value = String.fromCodePoint(this.#text.codePointAt(this.#at++)!)
    if (value === '(' || value === ')' || value === ',') return { kind: value, at, value }
    throw new RuleError('syntax', `Unexpected character ${JSON.stringify(value)}.`, at)
  }

  /** The token comes again. */
  back({ at }: Token): void {
    this.#at = at
  }

  #code(): number {
    return this.#at < this.#text.length ? this.#text.charCodeAt(this.#at) : -1
  }

  #run(test: (code: number) => boolean): string {
    const from = this.#at
    while (test(this.#code())) this.#at++
    return this.#text.slice(from, this.#at)
  }

  /** Skips blanks and comments. */
  #skip(depth: number): void {
    for (;;) {
      this.#run(isBlank)
      if (this.#code() !== SLASH) return
      if (this.#text.charCodeAt(this.#at + 1) !== SLASH)
        throw new RuleError('syntax', 'Unexpected "/".', this.#at, 'A comment begins with "//".')
      if (depth > 0) this.#skipNestedComment()
      else this.#run(isInLine)
    }
  }

  /**
   * PocketBase looks for the end of a group before it looks for comments. So a closing parenthesis ends a comment, and
   * an open quote or parenthesis would reach beyond it. Such a comment is refused.
   */
  #skipNestedComment(): void {
    const from = this.#at
    let open = 0
    for (; isInLine(this.#code()); this.#at++) {
      const code = this.#code()
      if (code === APOSTROPHE || code === QUOTE) this.#quoted(code, true)
      if (code === OPEN) open++
      if (code === CLOSE && --open < 0) return
    }
    if (open > 0) throw new RuleError('syntax', 'A comment in parentheses leaves a parenthesis open.', from)
  }

  #name(): Token {
    const at = this.#at++
    const value = this.#text[at]! + this.#run(isNamePart)
    if (/[.:]$|^[@#_]$/.test(value)) throw new RuleError('syntax', `Incomplete name "${value}".`, at)
    if (this.#code() !== OPEN) return { kind: 'name', at, value }
    this.#at++
    return { kind: 'function', at, value }
  }

  #numeral(): string {
    const from = this.#at
    if (this.#code() === MINUS) this.#at++
    this.#run(isDigit)
    if (this.#code() === DOT) this.#at++
    this.#run(isDigit)
    const value = this.#text.slice(from, this.#at)
    if (!/\d$/.test(value)) throw new RuleError('syntax', `Incomplete number "${value}".`, from)
    return value
  }

  /** Begins at the first quote, and ends after the last one. In a comment it ends at the last one, in the same line. */
  #quoted(quote: number, inComment = false): string {
    const from = this.#at++
    let value = ''
    let piece = this.#at
    for (; this.#code() >= 0 && (!inComment || isInLine(this.#code())); this.#at++) {
      const code = this.#code()
      if (code === quote) {
        value += this.#text.slice(piece, this.#at)
        if (!inComment) this.#at++
        return value
      }
      if (code !== BACKSLASH) continue
      const next = this.#text[this.#at + 1] ?? ''
      value +=
        this.#text.slice(piece, this.#at) +
        ((ESCAPED[next as keyof typeof ESCAPED] as string | undefined) ?? `\\${next}`)
      piece = ++this.#at + 1
    }
    const problem = inComment ? 'A comment in parentheses leaves a quote open.' : 'A text has no closing quote.'
    throw new RuleError('syntax', problem, from)
  }
}

function oneOf(known: RegExp, value: string, at: number): string {
  if (known.test(value)) return value
  const instead: string | undefined = INSTEAD[value as keyof typeof INSTEAD]
  throw new RuleError('syntax', `Unknown operator "${value}".`, at, instead === undefined ? '' : `Write "${instead}".`)
}

const [NEWLINE, QUOTE, AMPERSAND, APOSTROPHE, OPEN, CLOSE] = [10, 34, 38, 39, 40, 41]
const [MINUS, DOT, SLASH, BACKSLASH, BAR] = [45, 46, 47, 92, 124]

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === NEWLINE
}

/** Neither the end of the line nor that of the text. */
function isInLine(code: number): boolean {
  return code >= 0 && code !== NEWLINE
}

/** Whether a character joins: `&` or `|`. */
function isJoin(code: number): boolean {
  return code === AMPERSAND || code === BAR
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

/** A letter, `@`, `#` or `_`. */
function isNameStart(code: number): boolean {
  return isLetter(code) || code === 64 || code === 35 || code === 95
}

/** A letter, a digit, `.`, `:` or `_`. */
function isNamePart(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === DOT || code === 58 || code === 95
}

/** Whether the character is a sign: `= ? ! > < ~`. */
function isSign(code: number): boolean {
  return (code >= 60 && code <= 63) || code === 33 || code === 126
}
