/**
 * The entries of many documents for several indexes, gathered and sorted in memory.
 *
 * Equal values are kept once: each entry is the number of its value and the number of its document (entry-list.ts).
 */
import type { Collation } from '../codec/registered-collation.ts'
import { lazyModule } from '../base/lazy-module.ts'
import type { Key } from '../base/brand.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { BodyView } from '../document/body.ts'
import { FieldReader, type IndexTests, collationOf, elementsOf, sortedValue } from './index-key.ts'
import { EntryList, type ChunkPart } from './entry-list.ts'
import type { IndexDefinition } from './index-definition.ts'
import { ValueTree } from './value-tree.ts'

const texts = lazyModule(() => import('./text/text-part.ts'))

/** Call it before making a chunk for these indexes. May miss. */
export function loadParts(indexes: readonly IndexDefinition[]): void {
  if (indexes.some(({ text }) => text !== undefined)) texts()
}

export class KeyChunk {
  /** The sequences of the bodies added, ascending. */
  readonly sequences: number[] = []
  /** The numbers of the documents added, in the same order. */
  readonly numbers: number[] = []
  /** The scan that fills it stopped before the end. */
  stopped = false
  readonly #parts: readonly ChunkPart[]
  readonly #fields: FieldReader
  readonly #bytesMax: number

  constructor(indexes: readonly IndexDefinition[], shapes: ShapeDictionary, bytesMax: number, tests: IndexTests) {
    this.#parts = indexes.map((index) =>
      index.text === undefined ? new IndexPart(index, tests) : new (texts().TextPart)(index, tests),
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
  readonly #collation: Collation | undefined
  readonly #values = new ValueTree()
  readonly #entries = new EntryList(this.#values)

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.index = index
    this.#tests = tests
    this.#collation = collationOf(index)
  }

  get count(): number {
    return this.#entries.count
  }

  /** The bytes of memory used, about. */
  get bytes(): number {
    return this.#values.bytes + this.#entries.bytes
  }

  add(fields: FieldReader, documentNumber: number): void {
    const { index } = this
    const values = this.#values
    if (!this.#tests.includes(index, fields.read)) return
    if (index.multi) return this.#addElements(fields, documentNumber)
    const last = index.fields.length - 1
    let node = values.start
    for (let at = 0; at < last; at++) {
      const { path, descending } = index.fields[at]!
      node = values.child(node, this.#sorted(fields, path), descending)
    }
    const { path, descending } = index.fields[last]!
    this.#entries.add(values.add(node, this.#sorted(fields, path), descending), documentNumber)
  }

  #sorted(fields: FieldReader, path: string): unknown {
    return sortedValue(fields.read(path), path, this.#collation)
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

  valueAt(): undefined {
    return undefined
  }

  #addElements(fields: FieldReader, documentNumber: number): void {
    const { index } = this
    const values = this.#values
    const { path, descending } = index.fields[0]!
    const found = new Set<number>()
    for (const element of elementsOf(fields.read(path))) {
      found.add(values.numberOf(values.start, element, descending))
    }
    for (const value of found) this.#entries.add(value, documentNumber)
  }
}
