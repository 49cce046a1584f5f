/**
 * The entries of many documents for several indexes, gathered and sorted in memory.
 *
 * Equal values are kept once: each entry is the number of its value and the number of its document. So values that occur often
 * cost little memory, and only distinct values have to be sorted; the entries follow by counting.
 */
import type { Key } from '../base/brand.ts'
import { numberKey } from '../codec/key-number.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { BodyView } from '../document/body.ts'
import { ascendingOrder } from '../document/document-reader.ts'
import { FieldReader } from './field-reader.ts'
import type { IndexDefinition } from './index-definition.ts'
import { elementPrefixes, fieldsPrefix } from './index-key.ts'

/** About what a value that is kept costs beyond its chars. */
const VALUE_BYTES = 100
/** About what an entry costs. */
const ENTRY_BYTES = 20

export class KeyChunk {
  /** Of the bodies added, ascending. */
  readonly sequences: number[] = []
  /** Of the documents added, in the same order. */
  readonly numbers: number[] = []
  /** Whoever fills it left off before the end. */
  stopped = false
  private readonly parts: readonly IndexPart[]
  private readonly fields: FieldReader
  private readonly bytesMax: number
  private bytes = 0

  constructor(indexes: readonly IndexDefinition[], shapes: ShapeDictionary, bytesMax: number) {
    this.parts = indexes.map((index) => new IndexPart(index))
    this.fields = new FieldReader(shapes)
    this.bytesMax = bytesMax
  }

  get full(): boolean {
    return this.bytes >= this.bytesMax
  }

  add(body: BodyView): void {
    const { fields } = this
    this.sequences.push(body.sequence)
    this.numbers.push(body.number)
    fields.load(body)
    for (const part of this.parts) this.bytes += part.add(fields, body.number)
  }

  sort(): void {
    for (const part of this.parts) part.sort()
  }

  of(index: IndexDefinition): IndexPart {
    return this.parts.find((part) => part.index.number === index.number)!
  }
}

/** What a chunk has for one index. */
export class IndexPart {
  readonly index: IndexDefinition
  /** Distinct values as they start the keys, and their numbers. */
  private readonly valueNumbers = new Map<string, number>()
  /** For each entry the number of its value. */
  private readonly values: number[] = []
  /** For each entry the number of its document. */
  private readonly documents: number[] = []
  private valueTexts: readonly string[] = []
  private order: Uint32Array = new Uint32Array(0)

  constructor(index: IndexDefinition) {
    this.index = index
  }

  get count(): number {
    return this.values.length
  }

  /** Returns the memory it takes, about. */
  add(fields: FieldReader, documentNumber: number): number {
    const { index } = this
    if (!index.multi) return this.addEntry(fieldsPrefix(index, fields.read), documentNumber)
    let bytes = 0
    for (const text of elementPrefixes(index, fields.read)) bytes += this.addEntry(text, documentNumber)
    return bytes
  }

  /** Before `keyAt` and `documentAt`. */
  sort(): void {
    const { values, documents } = this
    this.valueTexts = [...this.valueNumbers.keys()]
    const ranks = new Uint32Array(this.valueTexts.length)
    const sorted = [...this.valueTexts].sort()
    sorted.forEach((text, rank) => (ranks[this.valueNumbers.get(text)!] = rank))
    // Where the entries of each value start.
    const starts = new Uint32Array(sorted.length + 1)
    for (const value of values) starts[ranks[value]! + 1]!++
    for (let rank = 0; rank < sorted.length; rank++) starts[rank + 1]! += starts[rank]!
    this.order = new Uint32Array(values.length)
    const byDocument = ascendingOrder(documents)
    for (let at = 0; at < values.length; at++) {
      const entry = byDocument === undefined ? at : byDocument[at]!
      this.order[starts[ranks[values[entry]!]!]!++] = entry
    }
  }

  /** The key of the entry at that place in key order. */
  keyAt(place: number): Key {
    const entry = this.order[place]!
    return (this.valueTexts[this.values[entry]!]! + numberKey(this.documents[entry]!)) as Key
  }

  documentAt(place: number): number {
    return this.documents[this.order[place]!]!
  }

  private addEntry(text: string, documentNumber: number): number {
    let bytes = ENTRY_BYTES
    let value = this.valueNumbers.get(text)
    if (value === undefined) {
      value = this.valueNumbers.size
      this.valueNumbers.set(text, value)
      bytes += VALUE_BYTES + text.length
    }
    this.values.push(value)
    this.documents.push(documentNumber)
    return bytes
  }
}
