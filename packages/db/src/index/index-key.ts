/**
 * The entries of an index. Each has the encoded values of the fields in order, then the document's number
 * (codec/key-encoding.ts). The value of an entry is empty.
 *
 * A missing field is indexed as `undefined`, the lowest value. So every index holds every live document at least once
 * and can serve any sort. A multi index holds one entry per distinct element of an array, and one with `undefined` for
 * a missing field or an empty array. A value that is not an array counts as one element.
 *
 * Very long values are cut off (codec/key-encoding.ts), so no document is too large to be indexed. An index neither
 * distinguishes nor sorts values with equal keys.
 */
import type { Key } from '../base/brand.ts'
import type { Bytes } from '../codec/bytes.ts'
import { isArrayLike } from '../codec/collation.ts'
import { collate, knownCollation, type Collation } from '../codec/registered-collation.ts'
import { encodeKey, encodeKeyDescending, numberKey } from '../codec/key-encoding.ts'
import type { IndexDefinition, IndexSelector } from '../document/catalog.ts'
import type { DocumentWrite } from '../document/document-write.ts'
import type { TreeWriter } from '../kv/key-value-store.ts'
import { readField } from '../codec/decode-document.ts'
import { compileFieldPath } from '../codec/field-path.ts'
import type { ShapeDictionary } from '../codec/shape.ts'

/** Tells the value at a path. */
export type ReadPath = (path: string) => unknown

/** Whole keys of a document's entries, distinct, in no order. */
export function indexKeys(definition: IndexDefinition, readField: ReadPath, documentNumber: number): string[] {
  const suffix = numberKey(documentNumber)
  const { fields, multi } = definition
  const collation = collationOf(definition)
  if (multi) {
    const { path, descending } = fields[0]!
    const keys = new Set<string>()
    for (const element of elementsOf(readField(path))) keys.add(encodeIndexValue(element, descending) + suffix)
    return [...keys]
  }
  let key = ''
  for (let at = 0; at < fields.length; at++) {
    const { path, descending } = fields[at]!
    key += encodeIndexValue(sortedValue(readField(path), path, collation), descending)
  }
  return [key + suffix]
}

/** The order of strings in its keys. */
export function collationOf({ collation }: Pick<IndexDefinition, 'collation'>): Collation | undefined {
  return collation === undefined ? undefined : knownCollation(collation)
}

/** A value as it stands in keys. Ids are always by code point. */
export function sortedValue(value: unknown, path: string, collation: Collation | undefined): unknown {
  return collation === undefined || path === '_id' ? value : collate(value, collation)
}

/** The values that a multi index has entries for. */
export function elementsOf(value: unknown): Iterable<unknown> {
  if (!isArrayLike(value)) return [value]
  return value.length === 0 ? [undefined] : (value as ArrayLike<unknown> & Iterable<unknown>)
}

/** One field of an entry. */
export function encodeIndexValue(value: unknown, descending: boolean): string {
  return descending ? encodeKeyDescending(value) : encodeKey(value)
}

/** Whether a document, given by its fields, is in the index. */
export type SelectorTest = (read: ReadPath) => boolean
/** May miss. */
export type CompileSelector = (index: PartialDefinition) => SelectorTest

type PartialDefinition = Pick<IndexDefinition, 'where' | 'dialect' | 'collation'>

/** The tests of partial indexes, each compiled once. */
export class IndexTests {
  readonly #compile: CompileSelector
  readonly #tests = new WeakMap<IndexSelector, SelectorTest>()

  constructor(compile: CompileSelector) {
    this.#compile = compile
  }

  /** Whether the index has entries of the document. The first call for a selector may miss. */
  includes(index: PartialDefinition, read: ReadPath): boolean {
    return index.where === undefined || this.#of(index)(read)
  }

  /** For an index that is not a text index. */
  keys(definition: IndexDefinition, read: ReadPath, documentNumber: number): readonly string[] {
    return this.includes(definition, read) ? indexKeys(definition, read, documentNumber) : NO_KEYS
  }

  /** After this `includes` does not miss. */
  load(definitions: readonly PartialDefinition[]): void {
    for (const index of definitions) if (index.where !== undefined) this.#of(index)
  }

  #of(index: PartialDefinition): SelectorTest {
    let test = this.#tests.get(index.where!)
    if (test === undefined) this.#tests.set(index.where!, (test = this.#compile(index)))
    return test
  }
}

export const NO_KEYS: readonly string[] = []

/** The value of every entry but some of a text index. */
const NOTHING = ''

/** The changes of writes in the tree of one index. */
export class EntryChanges {
  readonly #removed: string[] = []
  readonly #inserted: string[] = []

  /** The keys that a document had, and those that it has now. Keys that stay are not touched. */
  add(before: readonly string[], after: readonly string[]): void {
    if (before.length === 0) for (const key of after) this.#inserted.push(key)
    else if (before.length > 1 || after.length !== 1 || before[0] !== after[0]) {
      const kept = new Set(after)
      for (const key of before) if (!kept.delete(key)) this.#removed.push(key)
      for (const key of kept) this.#inserted.push(key)
    }
  }

  apply(tree: TreeWriter): void {
    for (const key of this.#removed.sort()) tree.remove(key as Key, 0)
    const inserted = this.#inserted.sort() as Key[]
    tree.insertMany(inserted, new Array<Bytes>(inserted.length).fill(NOTHING))
  }
}

/** The index may have entries of what the document was. */
export function hasEntries({ builtTo }: IndexDefinition, { old }: DocumentWrite): boolean {
  return old !== undefined && !old.deleted && (builtTo === undefined || old.sequence <= builtTo)
}

/** A BodyView or a DocumentWrite. */
interface EncodedContent {
  readonly id: string
  readonly bytes: Uint8Array
  readonly contentStart: number
  readonly contentEnd: number
}

export class FieldReader {
  /** The shapes that the content refers to. */
  readonly shapes: ShapeDictionary
  private content: EncodedContent | undefined
  private readonly fields = new Map<string, Field>()
  /** Counts the documents loaded. */
  private loads = 0

  constructor(shapes: ShapeDictionary) {
    this.shapes = shapes
  }

  /** Turns to another document. */
  load(content: EncodedContent): void {
    this.content = content
    this.loads++
  }

  /** The value at a path in the document loaded; undefined if it is missing. Several indexes may ask for the same. */
  readonly read = (path: string): unknown => {
    let field = this.fields.get(path)
    if (field === undefined) this.fields.set(path, (field = { of: valueAt(path), load: 0 }))
    if (field.load !== this.loads) {
      field.load = this.loads
      field.value = field.of(this.content!, this)
    }
    return field.value
  }
}

type ReadValue = (content: EncodedContent, reader: FieldReader) => unknown

interface Field {
  readonly of: ReadValue
  /** The load in which `value` was read. */
  load: number
  value?: unknown
}

function fieldAt(path: string): ReadValue {
  // An id is made of its bytes when it is asked for.
  if (path === '_id') return ({ id }) => id
  const field = compileFieldPath(path)
  return ({ bytes, contentStart, contentEnd }, { shapes }) => readField(bytes, contentStart, contentEnd, shapes, field)
}

let valueAt = fieldAt

/**
 * From now on indexes hold under some paths what `derive` makes of the whole document. It gives undefined for paths of fields. A value
 * must be a pure function of the document. Undefined: the document has no key, as one that lacks a field. A PannierError that is thrown
 * refuses the write of this document.
 *
 * Such an index needs a collation of its own, so that a process that can't derive its values drops it with the next write.
 */
export function deriveValues(derive: (path: string) => ((read: ReadPath) => unknown) | undefined): void {
  const before = valueAt
  valueAt = (path) => {
    const value = derive(path)
    return value === undefined ? before(path) : (_, { read }) => value(read)
  }
}
