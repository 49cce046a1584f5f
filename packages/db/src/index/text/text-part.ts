/** The entries of many documents for one text index, gathered and sorted in memory. */
import type { Key } from '../../base/brand.ts'
import { keyNumber } from '../../codec/key-number.ts'
import { SORTED_STRINGS_MAX, stringOrder } from '../../codec/key-order.ts'
import type { ChunkPart } from '../chunk-part.ts'
import type { IndexTests } from '../entry-keys.ts'
import type { FieldReader } from '../field-reader.ts'
import type { IndexDefinition } from '../index-definition.ts'
import { encodeList, listKey, textContent, textKeys } from './text-entries.ts'

/** About what an entry costs beside its key. */
const ENTRY_BYTES = 60

export class TextPart implements ChunkPart {
  readonly index: IndexDefinition
  bytes = 0
  readonly #tests: IndexTests
  readonly #keys: string[] = []
  readonly #lists = new Map<string, Uint8Array>()
  #order: Uint32Array | undefined

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.index = index
    this.#tests = tests
  }

  get count(): number {
    return this.#keys.length
  }

  /** One document may bring thousands of words. */
  get full(): boolean {
    return this.count > SORTED_STRINGS_MAX / 2
  }

  add(fields: FieldReader, documentNumber: number): void {
    if (!this.#tests.includes(this.index, fields.read)) return
    const content = textContent(this.index, fields.read)
    if (content === undefined) return
    const list = encodeList(content)
    const key = listKey(documentNumber)
    this.#lists.set(key, list)
    this.bytes += list.length
    for (const one of [key, ...textKeys(content, documentNumber)]) {
      this.#keys.push(one)
      this.bytes += one.length + ENTRY_BYTES
    }
  }

  sort(): void {
    this.#order = stringOrder(this.#keys)
  }

  keyAt(place: number): Key {
    return this.#keys[this.#order?.[place] ?? place] as Key
  }

  documentAt(place: number): number {
    return keyNumber(this.keyAt(place))
  }

  valueAt(place: number): Uint8Array | undefined {
    return this.#lists.get(this.keyAt(place))
  }
}
