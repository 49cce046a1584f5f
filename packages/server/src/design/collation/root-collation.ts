/**
 * The order of strings in CouchDB's views and selectors: ICU's root collation, to the third level, ignoring nothing.
 * Sort keys are made from our own table, so stored keys do not depend on Node's ICU (docs/adr/0021).
 *
 * A sort key is ASCII text without 00 and 01. It has the codes of the primary weights of the string's elements. Then,
 * if they are not all common, follow 02 and the secondary weights, 02 and the tertiary weights. Common weights at the
 * end of these two levels are left out where no weight is lower, because that changes no comparison. The keys of lower
 * case ASCII letters and digits are as long as the text.
 */
import { inflateRawSync } from 'node:zlib'
import { registerCollation } from 'pannier'
import type { Collation } from 'pannier/types'
import { ROOT_TABLE } from './root-table.ts'

interface Table {
  /** How many primary weights there are. */
  readonly primaries: number
  readonly commonSecondary: number
  readonly commonTertiary: number
  /** [code point, how many in a row, primary (one more each), secondary, tertiary] */
  readonly runs: readonly (readonly [number, number, number, number, number])[]
  /** [text, ...primary, secondary, tertiary of each element] */
  readonly singles: readonly (readonly [string, ...number[]])[]
}

/** The codes that a text adds to each level of a key. */
interface Elements {
  readonly primary: string
  readonly secondary: string
  readonly tertiary: string
}

const LEVEL = '\x02'
/** Codes consist of these. */
const FIRST = 0x03
const DIGITS = 0x7f - FIRST
/** Secondary weights from here on take two characters. */
const SHORT_SECONDARIES = 100
/** Characters whose primary weights have codes of one character. */
const FREQUENT = Array.from(' _-,.:/@0123456789abcdefghijklmnopqrstuvwxyz')

class RootOrder {
  readonly #table: Table
  readonly #singles = new Map<string, Elements>()
  /** First code units of texts of several characters that have elements of their own; how long these texts are at most. */
  readonly #longest = new Map<string, number>()
  readonly #ascii: readonly Elements[]
  /** Ranks of primary weights that have codes of one character, ascending, and the places of all ranks among codes. */
  readonly #short: readonly number[]
  readonly #shortLeads: readonly number[]
  readonly #unassignedLead: number
  /** Primary weights that some elements have with a tertiary weight below the common one: small kana. */
  readonly #loweredPrimaries: ReadonlySet<number>
  readonly #commonSecondary: string
  readonly #commonTertiary: string

  constructor() {
    this.#table = JSON.parse(inflateRawSync(Buffer.from(ROOT_TABLE, 'base64')).toString()) as Table
    const { singles, primaries, commonSecondary, commonTertiary } = this.#table
    this.#commonSecondary = secondaryCode(commonSecondary)
    this.#commonTertiary = character(2 * commonTertiary)
    this.#loweredPrimaries = loweredPrimaries(this.#table)
    const ranks = new Map(singles.map(([text, primary]) => [text, primary]))
    const frequent = FREQUENT.map((text): number => ranks.get(text) ?? this.#inRuns(text.charCodeAt(0))![0]!)
    this.#short = [...new Set(frequent)].sort((left, right) => left - right)
    let lead = FIRST + 1
    this.#shortLeads = this.#short.map((rank, at) => {
      lead += leadsOf(rank - (this.#short[at - 1] ?? 0) - 1)
      return lead++
    })
    this.#unassignedLead = lead + leadsOf(primaries - this.#short.at(-1)!)
    if (this.#unassignedLead > 0x7d) throw new Error('the codes of the root collation do not fit')
    for (const [text, ...weights] of singles) {
      this.#singles.set(text, this.#elementsOf(weights))
      if (Array.from(text).length > 1)
        this.#longest.set(text[0]!, Math.max(text.length, this.#longest.get(text[0]!) ?? 0))
    }
    this.#ascii = Array.from({ length: 128 }, (_, code) => this.#ofCodePoint(code))
  }

  key(text: string): string {
    let plain = isAscii(text) ? text : text.normalize('NFD')
    const primary = new LongText()
    const secondary = new LongText()
    const tertiary = new LongText()
    for (let at = 0; at < plain.length;) {
      if (this.#longest.has(plain[at]!)) plain = this.#withMarkNext(plain, at)
      const length = this.#lengthAt(plain, at)
      const elements =
        length === 0 ? this.#ofCodePoint(plain.codePointAt(at)!) : this.#singles.get(plain.substr(at, length))!
      at += length || (plain.codePointAt(at)! > 0xffff ? 2 : 1)
      primary.add(elements.primary)
      secondary.add(elements.secondary)
      tertiary.add(elements.tertiary)
    }
    const first = primary.text
    const second = withoutEnd(secondary.text, this.#commonSecondary)
    const third = withoutEnd(tertiary.text, this.#commonTertiary)
    if (third !== '') return first + LEVEL + second + LEVEL + third
    return second === '' ? first : first + LEVEL + second
  }

  /** A letter and a mark have an element of their own together, also if other marks stand between them that it can pass. */
  #withMarkNext(text: string, at: number): string {
    const [marks] = /^\p{Mn}*/u.exec(text.slice(at + 1))!
    if (marks.length < 2) return text
    for (const [place, mark] of Array.from(marks).entries()) {
      const before = Array.from(marks).slice(0, place)
      if (!this.#singles.has(text[at]! + mark) || before.some((other) => !passes(mark, other))) continue
      const rest = Array.from(marks).slice(place + 1)
      return text.slice(0, at + 1) + [mark, ...before, ...rest].join('') + text.slice(at + 1 + marks.length)
    }
    return text
  }

  /**
   * Length of the longest sequence of several characters in the table that is at `at`; 0 if there is no such sequence.
   */
  #lengthAt(text: string, at: number): number {
    for (let length = this.#longest.get(text[at]!) ?? 0; length > 1; length--)
      if (at + length <= text.length && this.#singles.has(text.substr(at, length)) && length > charsAt(text, at))
        return length
    return 0
  }

  #ofCodePoint(code: number): Elements {
    if (code < 128 && this.#ascii !== undefined) return this.#ascii[code]!
    const single = this.#singles.get(String.fromCodePoint(code))
    if (single !== undefined) return single
    const weights = this.#inRuns(code)
    if (weights !== undefined) return this.#elementsOf(weights)
    return { primary: this.#unassigned(code), secondary: this.#commonSecondary, tertiary: this.#commonTertiary }
  }

  /** Characters outside the table sort after all others, by code point. U+FFFE is the lowest and U+FFFF the highest. */
  #unassigned(code: number): string {
    if (code === 0xfffe) return character(0)
    const lead = String.fromCharCode(code === 0xffff ? this.#unassignedLead + 1 : this.#unassignedLead)
    return (
      lead +
      character(Math.floor(code / DIGITS ** 2)) +
      character(Math.floor(code / DIGITS) % DIGITS) +
      character(code % DIGITS)
    )
  }

  #inRuns(code: number): readonly number[] | undefined {
    const { runs } = this.#table
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (runs[middle]![0] <= code) low = middle + 1
      else high = middle
    }
    const run = runs[low - 1]
    if (run === undefined || code >= run[0] + run[1]) return undefined
    return [run[2] + code - run[0], run[3], run[4]]
  }

  /** Rank 0 is no weight. */
  #elementsOf(weights: readonly number[]): Elements {
    let primary = ''
    let secondary = ''
    let tertiary = ''
    for (let at = 0; at < weights.length; at += 3) {
      if (weights[at]! > 0) primary += this.#primaryCode(weights[at]!)
      if (weights[at + 1]! > 0) secondary += secondaryCode(weights[at + 1]!)
      if (weights[at + 2]! > 0) tertiary += this.#tertiaryCode(weights[at]!, weights[at + 2]!)
    }
    return { primary, secondary, tertiary }
  }

  /** Where a lower weight is possible, the common one must be written. */
  #tertiaryCode(primary: number, rank: number): string {
    const isKept = rank === this.#table.commonTertiary && this.#loweredPrimaries.has(primary)
    return character(2 * rank + Number(isKept))
  }

  #primaryCode(rank: number): string {
    const after = this.#short.findLastIndex((short) => short <= rank)
    const lead = after < 0 ? FIRST + 1 : this.#shortLeads[after]! + 1
    if (this.#short[after] === rank) return String.fromCharCode(lead - 1)
    const place = rank - (this.#short[after] ?? 0) - 1
    const digits = place % DIGITS ** 2
    return (
      String.fromCharCode(lead + Math.floor(place / DIGITS ** 2)) +
      character(Math.floor(digits / DIGITS)) +
      character(digits % DIGITS)
    )
  }
}

const PART_CHARS = 4096

/** A text that is put together of many small ones. The engine would keep each of them: 32 bytes and more for a character. */
class LongText {
  #parts = ''
  #part = ''

  add(text: string): void {
    this.#part += text
    if (this.#part.length < PART_CHARS) return
    this.#parts += Buffer.from(this.#part, 'latin1').toString('latin1')
    this.#part = ''
  }

  get text(): string {
    return this.#parts + this.#part
  }
}

/** Marks of one class stay in their order. */
function passes(mark: string, other: string): boolean {
  const turned = `a${mark}${other}`
  return turned.normalize('NFD') !== turned
}

function loweredPrimaries({ singles, runs, commonTertiary }: Table): Set<number> {
  const found = new Set<number>()
  for (const [, count, primary, , tertiary] of runs)
    if (tertiary < commonTertiary) for (let at = 0; at < count; at++) found.add(primary + at)
  for (const [, ...weights] of singles)
    for (let at = 0; at < weights.length; at += 3) if (weights[at + 2]! < commonTertiary) found.add(weights[at]!)
  return found
}

/** The number of lead bytes that `codes` codes need. */
function leadsOf(codes: number): number {
  return Math.ceil(codes / DIGITS ** 2)
}

function secondaryCode(rank: number): string {
  if (rank < SHORT_SECONDARIES) return character(rank)
  const rest = rank - SHORT_SECONDARIES
  return character(SHORT_SECONDARIES + Math.floor(rest / DIGITS)) + character(rest % DIGITS)
}

function character(digit: number): string {
  return String.fromCharCode(FIRST + digit)
}

function charsAt(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}

function withoutEnd(weights: string, common: string): string {
  let end = weights.length
  while (end > 0 && weights[end - 1] === common) end--
  return weights.slice(0, end)
}

let order: RootOrder | undefined

export const ROOT_COLLATION: Collation = {
  name: 'icu-root 42.1',
  key: (text) => (text === '' ? '' : (order ??= new RootOrder()).key(text)),
}
registerCollation(ROOT_COLLATION)

/** How selectors, keys and strings are to be understood that come through CouchDB's doors. */
export const COUCHDB_MEANING: { readonly dialect: 'couchdb'; readonly collation: string } = {
  dialect: 'couchdb',
  collation: ROOT_COLLATION.name,
}
