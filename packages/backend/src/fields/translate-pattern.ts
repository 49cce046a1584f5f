/**
 * Go's syntax of regular expressions, as one of JavaScript with the flag `u`.
 *
 * What is refused though Go takes it: `\C`, a repetition behind a change of flags, and the flag i for a part of a pattern. V8 finds no `Bc` by
 * `(?i:a|b)c` in a process that has compiled many patterns. `\S` in a class also excludes the spaces of Unicode.
 */

/** The error of a pattern, in Go's words. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PatternError'
  }
}

interface TranslatedPattern {
  readonly source: string
  readonly flags: string
  /** True if texts can be generated from the pattern: it has no places such as `^`, and no properties of Unicode. */
  readonly isGenerative: boolean
}

/** The translation of `.`, without and with the flag `s`. */
export const DOT: string = String.raw`[^\n]`
export const DOT_ALL = '[^]'

const REPEAT_MAX = 1000

const SPACES = String.raw`\t\n\f\r `
/** Names of POSIX in a class. */
const POSIX: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alnum: 'a-zA-Z0-9',
    alpha: 'a-zA-Z',
    ascii: String.raw`\0-\x7f`,
    blank: String.raw`\t `,
    cntrl: String.raw`\0-\x1f\x7f`,
    digit: '0-9',
    graph: '!-~',
    lower: 'a-z',
    print: ' -~',
    punct: '!-\\/:-@\\[-`\\{-~',
    space: String.raw`\t\n\v\f\r `,
    upper: 'A-Z',
    word: String.raw`\w`,
    xdigit: '0-9a-fA-F',
  }),
)
const CONTROLS: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }),
)
const CATEGORY = /^(?:[A-Z][a-z]?)$/
/** Long names of categories that Go knows, too. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Letter: 'L',
    Uppercase_Letter: 'Lu',
    Lowercase_Letter: 'Ll',
    Mark: 'M',
    Number: 'N',
    Decimal_Number: 'Nd',
    Punctuation: 'P',
    Symbol: 'S',
    Separator: 'Z',
    Space_Separator: 'Zs',
    Other: 'C',
  }),
)
/** Escapes for several characters in a class. */
const SEVERAL = /^\\[dDwWSpP]/

/** @throws PatternError */
export function translatePattern(pattern: string): TranslatedPattern {
  return new Translator(pattern).translate()
}

/** A group, up to where the translator is. */
interface Group {
  /** The outer flags, around it. */
  readonly outer: string
  /** The flags of the group's beginning, which its parentheses have. */
  readonly own: string
  /** Whether it is wrapped: parentheses with other flags are open in its last alternative. */
  isWrapped: boolean
  /** How many times its most repeated character may come. */
  repeats: number
}

class Translator {
  readonly #pattern: string
  /** The flags of the whole pattern. */
  readonly #hoisted: string
  readonly #groups: Group[]
  #flags: string
  #at: number
  #source = ''
  #isGenerative = true
  /** There is something that can be repeated. */
  #hasTerm = false
  /** How many times the most repeated character of the last term may come. */
  #repeats = 1

  constructor(pattern: string) {
    // Only the flag `m` changes what `^` means.
    const [front, place, flags] = /^(\^?)\(\?([imsU]+)\)/.exec(pattern) ?? ['', '', '']
    const isHoisted = place === '' || !flags.includes('m')
    this.#pattern = isHoisted ? place + pattern.slice(front.length) : pattern
    this.#at = 0
    this.#hoisted = isHoisted ? flags : ''
    this.#flags = this.#hoisted
    this.#groups = [this.#group(this.#flags)]
  }

  #group(own: string): Group {
    return { outer: this.#flags, own, isWrapped: false, repeats: 1 }
  }

  get #inner(): Group {
    return this.#groups.at(-1)!
  }

  translate(): TranslatedPattern {
    while (this.#at < this.#pattern.length) this.#source += this.#next()
    if (this.#groups.length > 1) this.#fail('missing closing )', this.#pattern)
    const flags = [...new Set(this.#hoisted)].filter((flag) => flag === 'i' || flag === 'm')
    return {
      source: this.#source + this.#unwrapped(),
      flags: `${flags.toSorted().join('')}u`,
      isGenerative: this.#isGenerative,
    }
  }

  #next(): string {
    const char = this.#takeChar()
    if (!'{*+?'.includes(char)) [this.#hasTerm, this.#repeats] = [true, 1]
    switch (char) {
      case '(':
        this.#hasTerm = false
        return this.#open()
      case ')':
        return this.#close()
      case '[':
        return this.#class()
      case '.':
        return this.#flags.includes('s') ? DOT_ALL : DOT
      case '\\':
        return this.#escape()
      case '{':
      case '*':
      case '+':
      case '?':
        return this.#repeat(char)
      case '^':
      case '$':
        return this.#place(char)
      case '|':
        this.#hasTerm = false
        return `${this.#unwrapped()}|${this.#wrapped()}`
      default:
        return literal(char)
    }
  }

  #place(source: string): string {
    this.#isGenerative = false
    return source
  }

  #open(): string {
    const [found, set = '', unset = '', end] = this.#take(/\?(?=[imsU-])([imsU]*)(?:-([imsU]+))?([:)])/y) ?? []
    if (found !== undefined) return this.#setFlags(set, unset, end === ':')
    this.#groups.push(this.#group(this.#flags))
    const [whole, kind] = this.#take(/\?(:|P?<\w+>|.?)/sy) ?? []
    const isKnown = kind === undefined || kind === ':' || kind.endsWith('>')
    return isKnown ? '(?:' : this.#fail('invalid or unsupported Perl syntax', `(${whole!}`)
  }

  /** For a group of their own, or for the rest of the one they stand in. */
  #setFlags(set: string, unset: string, isGroup: boolean): string {
    const flags = [...new Set(this.#flags + set)].filter((flag) => !unset.includes(flag)).join('')
    if (flags.includes('i') !== this.#flags.includes('i')) this.#fail('unsupported for a part of a pattern', '(?i)')
    if (isGroup) {
      this.#groups.push(this.#group(flags))
      const source = this.#place(modified(this.#flags, flags))
      this.#flags = flags
      return source
    }
    const before = this.#unwrapped()
    this.#flags = flags
    return before + this.#wrapped()
  }

  /** Opens what has the flags of the place, where its group has others. */
  #wrapped(): string {
    const { own } = this.#inner
    const source = modified(own, this.#flags)
    this.#inner.isWrapped = source !== '(?:'
    return this.#inner.isWrapped ? this.#place(source) : ''
  }

  #unwrapped(): string {
    const { isWrapped } = this.#inner
    this.#inner.isWrapped = false
    return isWrapped ? ')' : ''
  }

  #close(): string {
    if (this.#groups.length === 1) this.#fail('unexpected )', this.#pattern)
    const source = `${this.#unwrapped()})`
    const { outer, repeats } = this.#groups.pop()!
    this.#flags = outer
    this.#repeats = repeats
    this.#inner.repeats = Math.max(this.#inner.repeats, repeats)
    return source
  }

  #repeat(char: string): string {
    const [counts, least, most] = char === '{' ? (this.#take(/(\d+)(?:,(\d*))?\}/y) ?? []) : ['']
    // Go takes `{` as a character where it counts nothing.
    if (counts === undefined) {
      this.#hasTerm = true
      this.#repeats = 1
      return literal(char)
    }
    const operator = char + counts
    if (!this.#hasTerm) this.#fail('missing argument to repetition operator', operator)
    const max = most === undefined || most === '' ? Number(least ?? 0) : Number(most)
    if (Number(least ?? 0) > max || max > REPEAT_MAX) this.#fail('invalid repeat count', operator)
    this.#repeats *= Math.max(max, 1)
    if (this.#repeats > REPEAT_MAX) this.#fail('invalid repeat count', operator)
    this.#inner.repeats = Math.max(this.#inner.repeats, this.#repeats)
    const lazy = this.#take(/\?/y) === undefined ? '' : '?'
    const [again] = this.#take(/[*+?]|\{\d+(?:,\d*)?\}/y) ?? []
    if (again !== undefined) this.#fail('invalid nested repetition operator', operator + lazy + again)
    return operator + lazy
  }

  /** Reads an escape behind a backslash, outside a class. */
  #escape(): string {
    const [quoted] = this.#take(/Q(?:.*?\\E|.*)/sy) ?? []
    if (quoted !== undefined) {
      return quoted.slice(1).replace(/\\E$/, '').replace(/./gsu, literal)
    }
    const char = this.#pattern[this.#at] ?? ''
    if (char === 'A' || char === 'z') {
      this.#at++
      const source = char === 'A' ? '^' : '$'
      return this.#place(this.#flags.includes('m') ? `(?-m:${source})` : source)
    }
    if (char === 'b' || char === 'B') {
      this.#at++
      return this.#place(`\\${char}`)
    }
    // `\-` is there in classes only.
    const known = this.#characters()
    return known === SPACES ? `[${known}]` : known === String.raw`\-` ? '-' : known
  }

  /** The characters that a backslash stands for, as a class has them. */
  #characters(): string {
    const char = this.#takeChar()
    switch (char) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 'S':
        return `\\${char}`
      case 's':
        return SPACES
      case 'p':
      case 'P':
        return this.#property(char)
      case 'x':
        return this.#hexadecimal()
      case '':
        return this.#fail('trailing backslash at end of expression', '')
      default:
        if (CONTROLS.has(char)) return classLiteral(CONTROLS.get(char)!)
        if (/[0-7]/.test(char)) return this.#octal(char)
        return /^[^0-9A-Za-z\u0080-\u{10ffff}]$/u.test(char)
          ? classLiteral(char)
          : this.#fail('invalid escape sequence', `\\${char}`)
    }
  }

  #hexadecimal(): string {
    const [, braced, plain] = this.#take(/(?:\{([\da-f]{1,6})\}|([\da-f]{2}))/iy) ?? []
    const code = Number.parseInt(braced ?? plain ?? '', 16)
    if (!(code <= 0x10ffff)) this.#fail('invalid escape sequence', String.raw`\x`)
    return classLiteral(String.fromCodePoint(code))
  }

  #octal(first: string): string {
    const [more = ''] = this.#take(/[0-7]{1,2}/y) ?? []
    if (first !== '0' && more === '') this.#fail('invalid escape sequence', `\\${first}`)
    return classLiteral(String.fromCodePoint(Number.parseInt(first + more, 8)))
  }

  #property(char: string): string {
    const [whole = '', braced, plain] = this.#take(/(?:\{(\^?\w+)\}|([A-Z]))/y) ?? []
    const name = (braced ?? plain ?? '').replace('^', '')
    const isNegated = (braced?.startsWith('^') ?? false) !== (char === 'P')
    const category = CATEGORY.test(name) ? name : CATEGORIES.get(name)
    const source = `\\${isNegated ? 'P' : 'p'}{${category ?? `Script=${name}`}}`
    try {
      new RegExp(source, 'u')
    } catch {
      this.#fail('invalid character class range', `\\${char}${whole}`)
    }
    return this.#place(source)
  }

  #class(): string {
    const start = this.#at - 1
    let source = this.#take(/\^/y) === undefined ? '[' : '[^'
    for (let isFirst = true; ; isFirst = false) {
      if (this.#at >= this.#pattern.length) this.#fail('missing closing ]', this.#pattern.slice(start))
      if (!isFirst && this.#take(/\]/y) !== undefined) return `${source}]`
      source += this.#item()
    }
  }

  /** A character, a range or a named class. */
  #item(): string {
    const start = this.#at
    const [posix, negated, name] = this.#take(/\[:(\^?)(\w+):\]/y) ?? []
    if (posix !== undefined) {
      const known = POSIX.get(name!)
      if (known === undefined) this.#fail('invalid character class range', posix)
      return negated === '' ? known : without(known)
    }
    const low = this.#classChar()
    // Behind several characters `-` is one of its own.
    if (SEVERAL.test(low) || low === SPACES) return this.#take(/-(?=[^\]])/y) === undefined ? low : `${low}\\-`
    if (this.#take(/-(?=[^\]])/y) === undefined) return low
    const high = this.#classChar()
    const range = `${low}-${high}`
    try {
      new RegExp(`[${range}]`, 'u')
    } catch {
      this.#fail('invalid character class range', this.#pattern.slice(start, this.#at))
    }
    return range
  }

  #classChar(): string {
    const char = this.#takeChar()
    return char === '\\' ? this.#characters() : classLiteral(char)
  }

  /** Takes a character; `''` at the end. */
  #takeChar(): string {
    return this.#take(/./suy)?.[0] ?? ''
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#pattern)
    this.#at += found?.[0].length ?? 0
    return found ?? undefined
  }

  #fail(what: string, where: string): never {
    throw new PatternError(`error parsing regexp: ${what}: \`${where}\``)
  }
}

/** The beginning of a group that has other flags than what is around it. `.` says by itself whether it is a line end, too. */
function modified(from: string, to: string): string {
  if (from.includes('m') === to.includes('m')) return '(?:'
  return to.includes('m') ? '(?m:' : '(?-m:'
}

/** All characters that a class of ASCII does not have, as they stand in a class. */
function without(known: string): string {
  const has = new RegExp(`[${known}]`, 'u')
  const codes = Array.from({ length: 0x80 }, (_, code) => code).filter((code) => !has.test(String.fromCharCode(code)))
  return `${codes.map((code) => `\\u{${code.toString(16)}}`).join('')}\\u{80}-\\u{10ffff}`
}

function literal(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char
}

function classLiteral(char: string): string {
  return char === '-' ? String.raw`\-` : literal(char)
}
