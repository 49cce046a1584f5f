/**
 * The entries of many documents for one text index, gathered and sorted in memory. The bytes of a word are made once,
 * so that a posting needs no string of its own.
 */
import type { Key } from '../../base/brand.ts'
import { encodeKey } from '../../codec/key-encoding.ts'
import { SORTED_STRINGS_MAX } from '../../codec/key-order.ts'
import type { FieldReader, IndexTests } from '../index-key.ts'
import { DistinctTexts, EntryList, type ChunkPart } from '../entry-list.ts'
import type { IndexDefinition } from '../index-definition.ts'
import {
  eachText,
  encodeListed,
  FREQUENCY_MAX,
  lengthCode,
  lengthPrefix,
  listedWord,
  postingPrefix,
} from './text-entries.ts'
import { wordFinder, type FindWords } from './words.ts'

/** Approximate memory of a distinct text, a word and a list in addition to their bytes. */
const TEXT_BYTES = 120
const WORD_BYTES = 300
const LIST_BYTES = 200

interface Word {
  readonly key: string
  readonly listed: string
  /** Frequency in the document that is being added. */
  frequency: number
  /** By frequency and length of the document: which text its postings begin with. */
  readonly texts: Map<number, number>
}

export class TextPart implements ChunkPart {
  readonly index: IndexDefinition
  readonly #tests: IndexTests
  readonly #findWords: FindWords
  readonly #texts = new DistinctTexts([encodeKey(undefined)])
  readonly #words = new Map<string, Word>()
  /** By length code. */
  readonly #lengths = new Map<number, number>()
  readonly #entries = new EntryList(this.#texts)
  /** By document. */
  readonly #lists = new Map<number, Uint8Array>()
  #bytes = 0

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.index = index
    this.#tests = tests
    this.#findWords = wordFinder(index.text!.language)
  }

  get count(): number {
    return this.#entries.count
  }

  get bytes(): number {
    return this.#bytes + this.#entries.bytes
  }

  /** One document may bring thousands of words. */
  get full(): boolean {
    return this.#texts.count > SORTED_STRINGS_MAX / 2
  }

  add(fields: FieldReader, documentNumber: number): void {
    if (!this.#tests.includes(this.index, fields.read)) return
    const words: Word[] = []
    let length = 0
    const addText = (text: string): void => {
      for (const found of this.#findWords(text)) {
        length++
        const word = this.#words.get(found) ?? this.#newWord(found)
        if (word.frequency === 0) words.push(word)
        if (word.frequency < FREQUENCY_MAX) word.frequency++
      }
    }
    for (const { path } of this.index.fields) eachText(fields.read(path), addText)
    if (length === 0) return
    const code = lengthCode(length)
    const list = encodeListed(code, words)
    this.#lists.set(documentNumber, list)
    this.#bytes += list.length + LIST_BYTES
    this.#entries.add(0, documentNumber)
    this.#entries.add(
      this.#textOf(this.#lengths, code, () => lengthPrefix(code)),
      documentNumber,
    )
    for (const word of words) {
      const { texts, frequency, key } = word
      word.frequency = 0
      const text =
        texts.get(frequency * 256 + code) ??
        this.#textOf(texts, frequency * 256 + code, () => postingPrefix(key, frequency, code))
      this.#entries.add(text, documentNumber)
    }
  }

  #newWord(text: string): Word {
    const word: Word = { key: encodeKey(text), listed: listedWord(text), frequency: 0, texts: new Map() }
    this.#words.set(text, word)
    this.#bytes += 2 * word.key.length + WORD_BYTES
    return word
  }

  #textOf(texts: Map<number, number>, which: number, make: () => string): number {
    let text = texts.get(which)
    if (text === undefined) {
      const prefix = make()
      text = this.#texts.list.push(prefix) - 1
      texts.set(which, text)
      this.#bytes += prefix.length + TEXT_BYTES
    }
    return text
  }

  sort(): void {
    this.#entries.sort()
  }

  keyAt(place: number): Key {
    return this.#entries.keyAt(place)
  }

  documentAt(place: number): number {
    return this.#entries.documentAt(place)
  }

  /** The lists come first: their keys are those of a missing word. */
  valueAt(place: number): Uint8Array | undefined {
    return place < this.#lists.size ? this.#lists.get(this.documentAt(place)) : undefined
  }
}
