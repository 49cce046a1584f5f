/**
 * The entries of many documents for several indexes, gathered and sorted in memory.
 *
 * Equal values are kept once: each entry is the number of its value and the number of its document. So values that occur often
 * cost little memory, and only distinct values have to be sorted; the entries follow by counting.
 */
import type { Key } from '../base/brand.ts'
import { numberKey } from '../codec/key-number.ts'
import { stringOrder } from '../codec/key-order.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { BodyView } from '../document/body.ts'
import { ascendingOrder } from '../document/document-reader.ts'
import type { ChunkPart } from './chunk-part.ts'
import type { IndexTests } from './entry-keys.ts'
import { FieldReader } from './field-reader.ts'
import type { IndexDefinition } from './index-definition.ts'
import { elementsOf } from './index-key.ts'
import { TextPart } from './text/text-part.ts'
import { ValueTree } from './value-tree.ts'

/** About what an entry costs. */
const ENTRY_BYTES = 20

export class KeyChunk {
  /** Of the bodies added, ascending. */
  readonly sequences: number[] = []
  /** Of the documents added, in the same order. */
  readonly numbers: number[] = []
  /** Whoever fills it left off before the end. */
  stopped = false
  readonly #parts: readonly ChunkPart[]
  readonly #fields: FieldReader
  readonly #bytesMax: number

  constructor(indexes: readonly IndexDefinition[], shapes: ShapeDictionary, bytesMax: number, tests: IndexTests) {
    this.#parts = indexes.map((index) =>
      index.text === undefined ? new IndexPart(index, tests) : new TextPart(index, tests),
    )
    this.#fields = new FieldReader(shapes)
    this.#bytesMax = bytesMax
  }

  get full(): boolean {
    let bytes = 0
    for (const part of this.#parts) {
      if (part.full) return true
      bytes += part.bytes
    }
    return bytes >= this.#bytesMax
  }

  add(body: BodyView): void {
    const fields = this.#fields
    this.sequences.push(body.sequence)
    this.numbers.push(body.number)
    fields.load(body)
    for (const part of this.#parts) part.add(fields, body.number)
  }

  sort(): void {
    for (const part of this.#parts) part.sort()
  }

  of(index: IndexDefinition): ChunkPart {
    return this.#parts.find((part) => part.index.number === index.number)!
  }
}

class IndexPart implements ChunkPart {
  readonly index: IndexDefinition
  readonly full = false
  readonly #tests: IndexTests
  readonly #values = new ValueTree()
  /** For each entry the number of its value. */
  readonly #valueOf: number[] = []
  /** For each entry the number of its document. */
  readonly #documentOf: number[] = []
  #order: Uint32Array = new Uint32Array(0)

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.index = index
    this.#tests = tests
  }

  get count(): number {
    return this.#valueOf.length
  }

  /** Memory used, about. */
  get bytes(): number {
    return this.#values.bytes + ENTRY_BYTES * this.count
  }

  add(fields: FieldReader, documentNumber: number): void {
    const { index } = this
    const values = this.#values
    if (!this.#tests.includes(index, fields.read)) return
    if (index.multi) return this.#addElements(fields, documentNumber)
    let node = values.start
    for (let at = 0; at < index.fields.length; at++) {
      const { path, descending } = index.fields[at]!
      node = values.child(node, fields.read(path), descending)
    }
    this.#valueOf.push(values.numberOf(node))
    this.#documentOf.push(documentNumber)
  }

  /** Before `keyAt` and `documentAt`. */
  sort(): void {
    const valueOf = this.#valueOf
    const documentOf = this.#documentOf
    const values = this.#values
    const ranks = new Uint32Array(values.texts.length)
    const sorted = stringOrder(values.texts)
    for (let rank = 0; rank < ranks.length; rank++) ranks[sorted?.[rank] ?? rank] = rank
    // Where the entries of each value start.
    const starts = new Uint32Array(ranks.length + 1)
    for (const value of valueOf) starts[ranks[value]! + 1]!++
    for (let rank = 0; rank < ranks.length; rank++) starts[rank + 1]! += starts[rank]!
    this.#order = new Uint32Array(valueOf.length)
    const byDocument = ascendingOrder(documentOf)
    for (let at = 0; at < valueOf.length; at++) {
      const entry = byDocument === undefined ? at : byDocument[at]!
      this.#order[starts[ranks[valueOf[entry]!]!]!++] = entry
    }
  }

  /** The key of the entry at that place in key order. */
  keyAt(place: number): Key {
    const entry = this.#order[place]!
    return (this.#values.texts[this.#valueOf[entry]!]! + numberKey(this.#documentOf[entry]!)) as Key
  }

  documentAt(place: number): number {
    return this.#documentOf[this.#order[place]!]!
  }

  valueAt(): undefined {
    return undefined
  }

  #addElements(fields: FieldReader, documentNumber: number): void {
    const { index } = this
    const values = this.#values
    const { path, descending } = index.fields[0]!
    const found = new Set<number>()
    for (const element of elementsOf(fields.read(path))) {
      found.add(values.numberOf(values.child(values.start, element, descending)))
    }
    for (const value of found) {
      this.#valueOf.push(value)
      this.#documentOf.push(documentNumber)
    }
  }
}
