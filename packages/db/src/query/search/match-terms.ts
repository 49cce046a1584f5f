/**
 * Finds the documents that have the words, with their scores, only from the entries of a text index. The number of
 * documents, the number with a word and their lengths are counted, not walked. The postings of the words are walked,
 * rarest word first. If few documents are left and a word is frequent, their words are looked up instead.
 */
import type { Key } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import { prefixUpperBound, encodeKey } from '../../codec/key-encoding.ts'
import {
  decodeList,
  eachText,
  FREQUENCY_MAX,
  lengthOf,
  lengthPrefix,
  listKey,
  POSTING_SUFFIX_BYTES,
} from '../../index/text/text-entries.ts'
import type { Cursor, KeyRange, TreeReader } from '../../kv/key-value-store.ts'
import { together } from '../../base/miss.ts'
import { wordFinder } from '../../index/text/words.ts'
import { NO_ROWS, type AccessPath } from '../planner/access-path.ts'
import type { QuerySource } from '../query-source.ts'
import { collectSet } from '../sets/collect-set.ts'
import { NumberSet } from '../sets/number-set.ts'
import type { IndexDefinition } from '../../document/catalog.ts'

/** Documents that one search can find. */
const SEARCH_MATCHES_MAX = 1_000_000
/** Postings that one step looks at. */
const STEP_POSTINGS_MAX = 8192
/** Looking up a document costs about as much as walking this number of postings. */
const POSTINGS_PER_LOOKUP = 16
const LOOKUPS_PER_STEP = 1024

/** Counts in the index for a search. */
interface TermCounts {
  /** Documents with any words. */
  readonly documents: number
  readonly averageLength: number
  /** Aligned with the terms: for a word the documents that have it; for a prefix the postings, which is more. */
  readonly postings: readonly number[]
}

/** O(height) for each word and for each length, at most 256 lengths. May miss. */
export function countTerms(tree: TreeReader, terms: readonly SearchTerm[]): TermCounts {
  const lengths = { gte: encodeKey(0) as Key, lt: encodeKey('') as Key }
  const reads = [
    () => tree.count(lengths),
    () => averageOf(tree, lengths),
    ...terms.map((term) => () => tree.count(rangeOf(term))),
  ]
  const [documents, averageLength, ...postings] = together(reads, (read) => read()) as [number, number, ...number[]]
  return { documents, averageLength, postings }
}

/** Walks from length to length. */
function averageOf(tree: TreeReader, range: KeyRange): number {
  let words = 0
  let documents = 0
  for (let code = 1; code < 256; code++) {
    const first = tree.cursor({ gte: lengthPrefix(code) as Key, lt: range.lt })
    if (!first.next()) break
    while (prefixUpperBound(lengthPrefix(code))! <= first.key) code++
    const prefix = lengthPrefix(code)
    const count = tree.count({ gte: prefix as Key, lt: prefixUpperBound(prefix) })
    words += count * lengthOf(code)
    documents += count
  }
  return words / Math.max(documents, 1)
}

/** Works in steps: call `step` until it is done, and again if it misses. */
export class TermMatcher {
  /** By document number. */
  scores: Map<number, number> = new Map<number, number>()
  readonly #tree: TreeReader
  readonly #terms: readonly { readonly term: SearchTerm; readonly postings: number }[]
  readonly #counts: TermCounts
  readonly #matchesAll: boolean
  #at = 0
  #walk: Walk | undefined

  constructor(tree: TreeReader, terms: readonly SearchTerm[], counts: TermCounts, matchesAll: boolean) {
    this.#tree = tree
    this.#counts = counts
    this.#matchesAll = matchesAll
    this.#terms = terms
      .map((term, at) => ({ term, postings: counts.postings[at]! }))
      .toSorted((left, right) => left.postings - right.postings)
  }

  /** May miss. */
  step(): boolean {
    const current = this.#terms[this.#at]
    if (current === undefined) return true
    const { term, postings } = current
    const isFirst = this.#at === 0
    if (this.#matchesAll && (postings === 0 || (!isFirst && this.scores.size === 0))) {
      this.scores = new Map()
      return true
    }
    this.#walk ??=
      this.#matchesAll && !isFirst && !term.isPrefix && postings > POSTINGS_PER_LOOKUP * this.scores.size
        ? new LookupWalk(this.#tree, term, [...this.scores.keys()])
        : new PostingWalk(this.#tree, term, this.#matchesAll && !isFirst ? this.scores : undefined)
    if (!this.#walk.step()) return false
    this.#take(this.#walk, term.isPrefix ? this.#walk.documents : postings)
    this.#walk = undefined
    this.#at++
    return false
  }

  #take({ found }: Walk, documentsWithTerm: number): void {
    const { documents, averageLength } = this.#counts
    const weight = wordWeight(documents, documentsWithTerm)
    const before = this.scores
    const scores: Map<number, number> = this.#matchesAll ? new Map() : before
    for (const [number, { frequency, code }] of found) {
      const score = weight * occurrenceWeight(frequency, lengthOf(code) / averageLength)
      scores.set(number, (before.get(number) ?? 0) + score)
    }
    this.scores = scores
    checkMatches(scores.size)
  }
}

interface Occurrences {
  readonly frequency: number
  readonly code: number
}

/** A walk looks for one term. */
interface Walk {
  /** By document number. */
  readonly found: ReadonlyMap<number, Occurrences>
  /** Documents that have the term. */
  readonly documents: number
  /** A step. True when it is done. May miss. */
  step(): boolean
}

class PostingWalk implements Walk {
  readonly found = new Map<number, Occurrences>()
  readonly #cursor: Cursor
  readonly #among: ReadonlyMap<number, unknown> | undefined
  /** For a prefix: documents that have it and are not wanted. */
  readonly #others = new Set<number>()
  readonly #isPrefix: boolean

  constructor(tree: TreeReader, term: SearchTerm, among: ReadonlyMap<number, unknown> | undefined) {
    this.#cursor = tree.cursor(rangeOf(term))
    this.#among = among
    this.#isPrefix = term.isPrefix
  }

  get documents(): number {
    return this.found.size + this.#others.size
  }

  step(): boolean {
    const cursor = this.#cursor
    for (let looked = 0; looked < STEP_POSTINGS_MAX; looked++) {
      if (!cursor.next()) return true
      const number = cursor.keyNumber
      if (this.#among !== undefined && !this.#among.has(number)) {
        if (this.#isPrefix) this.#others.add(number)
        continue
      }
      const { key } = cursor
      const end = key.length - POSTING_SUFFIX_BYTES
      const frequency = FREQUENCY_MAX - key.charCodeAt(end)
      const more = this.#isPrefix ? (this.found.get(number)?.frequency ?? 0) : 0
      this.found.set(number, { frequency: frequency + more, code: key.charCodeAt(end + 1) })
    }
    checkMatches(this.documents)
    return false
  }
}

class LookupWalk implements Walk {
  readonly found = new Map<number, Occurrences>()
  readonly #tree: TreeReader
  readonly #word: string
  readonly #numbers: readonly number[]
  #at = 0

  constructor(tree: TreeReader, { word }: SearchTerm, numbers: number[]) {
    this.#tree = tree
    this.#word = word
    this.#numbers = numbers.sort((left, right) => left - right)
  }

  get documents(): number {
    return this.found.size
  }

  step(): boolean {
    const numbers = this.#numbers.slice(this.#at, this.#at + LOOKUPS_PER_STEP)
    this.#tree.getMany(numbers.map(listKey)).forEach((list, at) => {
      const { frequencies, lengthCode } = decodeList(list!)
      const frequency = frequencies.get(this.#word)
      if (frequency !== undefined) this.found.set(numbers[at]!, { frequency, code: lengthCode })
    })
    this.#at += numbers.length
    return this.#at === this.#numbers.length
  }
}

function rangeOf({ word, isPrefix }: SearchTerm): KeyRange {
  const key = encodeKey(word)
  const start = isPrefix ? key.slice(0, -1) : key
  return { gte: start as Key, lt: prefixUpperBound(start) }
}

function checkMatches(documents: number): void {
  if (documents > SEARCH_MATCHES_MAX)
    throw new PannierError('PANNIER_LIMIT_EXCEEDED', `A search finds at most ${SEARCH_MATCHES_MAX} documents.`)
}

/** BM25: rare words count more, repetition counts less and less, and in long texts a word counts less. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75

/** Weight of a word, by the number of documents that have it. */
function wordWeight(documents: number, documentsWithWord: number): number {
  return Math.log(1 + (documents - documentsWithWord + 0.5) / (documentsWithWord + 0.5))
}

/** Weight of a word's occurrences in one document, relative to a document of average length. */
function occurrenceWeight(frequency: number, relativeLength: number): number {
  const dampened = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relativeLength)
  return (frequency * (SATURATION + 1)) / (frequency + dampened)
}

/** A parsed search: `quick bro*` (words, and the start of a word), `"brown fox"` (a phrase). */
interface SearchTerm {
  readonly word: string
  /** True for all words that begin with the term. */
  readonly isPrefix: boolean
}

export interface ParsedSearch {
  /** The terms, each once. */
  readonly terms: readonly SearchTerm[]
  /** At least two words. */
  readonly phrases: readonly (readonly string[])[]
}

/** The numbers of the documents that have all terms. `check` is called again and again, and may throw. */
export async function documentsWith(
  source: QuerySource,
  index: IndexDefinition,
  terms: readonly SearchTerm[],
  check: () => void,
): Promise<NumberSet> {
  const entries = await source.attempt(() =>
    together(terms, (term): AccessPath => {
      const range = rangeOf(term)
      return { ...NO_ROWS, kind: 'index', index, ranges: [range], counts: [source.index(index).count(range)] }
    }),
  )
  if (terms.length === 0 || entries.some(({ counts }) => counts[0] === 0)) return NumberSet.of([])
  return collectSet(source, { ...NO_ROWS, kind: 'intersection', branches: entries }, check)
}

/** The words of a document: of each of its texts, and all of them. */
type DocumentWords = Readonly<{ texts: readonly (readonly string[])[]; all: ReadonlySet<string> }>

/** The words in the values of fields: in strings, and in the strings of arrays. */
export function wordsOf(values: readonly unknown[], language: string | undefined): DocumentWords {
  const findWords = wordFinder(language)
  const texts: string[][] = []
  for (const value of values) eachText(value, (text) => texts.push(findWords(text)))
  return { texts, all: new Set(texts.flat()) }
}

/** Whether a document has all that is searched for. */
export function hasSearched({ terms, phrases }: ParsedSearch, words: DocumentWords): boolean {
  const has = ({ word, isPrefix }: SearchTerm): boolean =>
    isPrefix ? [...words.all].some((one) => one.startsWith(word)) : words.all.has(word)
  return terms.length > 0 && terms.every(has) && hasPhrases(phrases, words)
}

/** Whether each phrase is in one of the texts. */
export function hasPhrases(phrases: ParsedSearch['phrases'], { texts }: DocumentWords): boolean {
  const isIn = (phrase: readonly string[], words: readonly string[]): boolean =>
    words.some((_, start) => phrase.every((word, at) => words[start + at] === word))
  return phrases.every((phrase) => texts.some((words) => isIn(phrase, words)))
}

/** Words of one search. */
const SEARCH_TERMS_MAX = 100

/** Reads a search: its words, phrases and prefixes. It has at most 100; the others are left out. */
export function parseSearch(text: string, language: string | undefined): ParsedSearch {
  const findWords = wordFinder(language)
  const terms = new Map<string, SearchTerm>()
  const phrases: string[][] = []
  const add = (word: string, isPrefix: boolean): void => {
    terms.set(`${word}${isPrefix ? '*' : ''}`, { word, isPrefix })
  }
  for (const [part, quoted] of text.matchAll(/"([^"]*)"|[^\s"]+/g)) {
    const words = findWords(quoted ?? part)
    const isPrefix = quoted === undefined && part.endsWith('*')
    words.forEach((word, at) => add(word, isPrefix && at === words.length - 1))
    if (quoted !== undefined && words.length > 1) phrases.push(words)
  }
  return { terms: [...terms.values()].slice(0, SEARCH_TERMS_MAX), phrases }
}
