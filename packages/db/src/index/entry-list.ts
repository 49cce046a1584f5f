/**
 * Index entries as pairs of numbers: that of a text and that of a document. The text is the key without the document's
 * number; it is kept once or a few times. So only texts have to be sorted; a counting sort orders the entries.
 */
import type { Key } from '../base/brand.ts'
import { numberKey } from '../codec/key-encoding.ts'
import { stringOrder } from '../codec/key-order.ts'
import { ascendingOrder } from '../document/document-reader.ts'
import type { IndexDefinition } from './index-definition.ts'
import type { FieldReader } from './index-key.ts'

/** Byte strings, by number. */
export interface Texts {
  readonly count: number
  textAt(number: number): string
  /** The ranks of texts by number: lower for lower texts, the same for equal ones, below `count`. */
  ranks(): Uint32Array
}

/** Distinct texts. */
export class DistinctTexts implements Texts {
  readonly list: string[]

  constructor(list: string[] = []) {
    this.list = list
  }

  get count(): number {
    return this.list.length
  }

  textAt(number: number): string {
    return this.list[number]!
  }

  ranks(): Uint32Array {
    const ranks = new Uint32Array(this.list.length)
    const order = stringOrder(this.list)
    for (let rank = 0; rank < ranks.length; rank++) ranks[order?.[rank] ?? rank] = rank
    return ranks
  }
}

/** About what an entry costs in memory. */
const ENTRY_BYTES = 20

export class EntryList {
  readonly #texts: Texts
  readonly #textOf: number[] = []
  readonly #documentOf: number[] = []
  #order: Uint32Array = new Uint32Array(0)

  /** `texts` may grow until the list is sorted. */
  constructor(texts: Texts) {
    this.#texts = texts
  }

  get count(): number {
    return this.#textOf.length
  }

  get bytes(): number {
    return ENTRY_BYTES * this.count
  }

  add(text: number, documentNumber: number): void {
    this.#textOf.push(text)
    this.#documentOf.push(documentNumber)
  }

  /** Before `keyAt` and `documentAt`. */
  sort(): void {
    const textOf = this.#textOf
    const documentOf = this.#documentOf
    const ranks = this.#texts.ranks()
    // Start of each text's entries.
    const starts = new Uint32Array(ranks.length + 1)
    for (const text of textOf) starts[ranks[text]! + 1]!++
    for (let rank = 0; rank < ranks.length; rank++) starts[rank + 1]! += starts[rank]!
    this.#order = new Uint32Array(textOf.length)
    const byDocument = ascendingOrder(documentOf)
    for (let at = 0; at < textOf.length; at++) {
      const entry = byDocument === undefined ? at : byDocument[at]!
      this.#order[starts[ranks[textOf[entry]!]!]!++] = entry
    }
  }

  /** The key of the entry at that place in key order. */
  keyAt(place: number): Key {
    const entry = this.#order[place]!
    return (this.#texts.textAt(this.#textOf[entry]!) + numberKey(this.#documentOf[entry]!)) as Key
  }

  documentAt(place: number): number {
    return this.#documentOf[this.#order[place]!]!
  }
}

/** The entries that a chunk (key-chunk.ts) has for one index. */
export interface ChunkPart {
  readonly index: IndexDefinition
  /** Entries. */
  readonly count: number
  /** The bytes of memory used, about. */
  readonly bytes: number
  /** Full, even if there is more memory. */
  readonly full: boolean
  add(fields: FieldReader, documentNumber: number): void
  /** Before `keyAt` and the like, which take the place in key order. */
  sort(): void
  keyAt(place: number): Key
  documentAt(place: number): number
  /** Undefined: nothing. */
  valueAt(place: number): Uint8Array | undefined
}
