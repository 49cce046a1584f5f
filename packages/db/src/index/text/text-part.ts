/** The entries of many documents for one text index, gathered and sorted in memory. */
import type { Key } from '../../base/brand.ts'
import { encodeKey } from '../../codec/key-encoding.ts'
import { SORTED_STRINGS_MAX } from '../../codec/key-order.ts'
import type { ChunkPart } from '../chunk-part.ts'
import type { IndexTests } from '../entry-keys.ts'
import { DistinctTexts, EntryList } from '../entry-list.ts'
import type { FieldReader } from '../field-reader.ts'
import type { IndexDefinition } from '../index-definition.ts'
import { encodeList, keyPrefixes, textContent } from './text-entries.ts'

/** About what a distinct text, and a list, cost beside their bytes. */
const TEXT_BYTES = 120
const LIST_BYTES = 200

export class TextPart implements ChunkPart {
  readonly index: IndexDefinition
  readonly #tests: IndexTests
  readonly #texts = new DistinctTexts([encodeKey(undefined)])
  readonly #numbers = new Map<string, number>()
  readonly #entries = new EntryList(this.#texts)
  /** By document. */
  readonly #lists = new Map<number, Uint8Array>()
  #bytes = 0

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.index = index
    this.#tests = tests
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
    const content = textContent(this.index, fields.read)
    if (content === undefined) return
    const list = encodeList(content)
    this.#lists.set(documentNumber, list)
    this.#bytes += list.length + LIST_BYTES
    this.#entries.add(0, documentNumber)
    for (const prefix of keyPrefixes(content)) {
      let text = this.#numbers.get(prefix)
      if (text === undefined) {
        text = this.#texts.list.push(prefix) - 1
        this.#numbers.set(prefix, text)
        this.#bytes += prefix.length + TEXT_BYTES
      }
      this.#entries.add(text, documentNumber)
    }
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
