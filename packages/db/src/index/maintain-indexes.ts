/** Keeps the indexes of a collection up to date with the documents that are written. */
import { indexTreeName } from '../document/collection-state.ts'
import type { Key } from '../base/brand.ts'
import type { Bytes } from '../codec/bytes.ts'
import { lazyModule } from '../base/lazy-module.ts'
import type { CollectionState } from '../document/collection-state.ts'
import { existingTree } from '../document/document-reader.ts'
import type { DocumentWrite, IndexMaintenance, PreparedWork, Refusals } from '../document/document-write.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { FieldReader, type CompileSelector, IndexTests } from './index-key.ts'
import type { IndexDeclaration, IndexDefinition } from './index-definition.ts'
import type { TextContent } from './text/text-entries.ts'

/** `declared`: what a collection gets when it is made. */
export function indexMaintenance(
  compile: CompileSelector,
  declared: () => readonly IndexDeclaration[] = () => [],
): IndexMaintenance {
  return new Maintenance(new IndexTests(compile), declared)
}

/** The value of every entry but some of a text index. */
const NOTHING = ''

/** Most applications have no such indexes. */
const texts = lazyModule(() => import('./text/text-entries.ts'))
const uniqueness = lazyModule(() => import('./unique.ts'))

class Maintenance implements IndexMaintenance {
  readonly #tests: IndexTests
  readonly #declared: () => readonly IndexDeclaration[]
  /** Content of text indexes for a document before the write, by the number of the index. */
  readonly #oldTexts = new WeakMap<DocumentWrite, ReadonlyMap<number, TextContent>>()
  /** Kept as long as the shapes are the same: they know where the fields are. */
  #oldFields!: FieldReader
  #newFields: FieldReader | undefined

  constructor(tests: IndexTests, declared: () => readonly IndexDeclaration[]) {
    this.#tests = tests
    this.#declared = declared
  }

  prepare(transaction: WriteTransaction, collection: CollectionState | undefined, work: PreparedWork): Refusals {
    const indexes = collection?.indexes ?? this.#declared().map(toDefinition)
    this.#tests.load(indexes)
    // `apply` must not miss it.
    if (indexes.some(({ text }) => text !== undefined)) {
      texts()
      for (const write of work.writes) this.#oldTexts.delete(write)
    }
    if (collection !== undefined) this.#readTexts(transaction, collection, work.writes)
    const unique = indexes.filter((index) => index.unique === true && index.builtTo === undefined)
    if (unique.length === 0 || !work.isRefusable) return NO_REFUSALS
    return uniqueness().refuseDuplicates({ transaction, collection, unique, tests: this.#tests, ...work })
  }

  /**
   * Removes the entries that a write makes wrong and inserts those that it makes necessary; what stays is not touched. An
   * index that is being built has entries for bodies up to `builtTo` only, so there new bodies get theirs from the builder.
   */
  apply(transaction: WriteTransaction, collection: CollectionState, writes: readonly DocumentWrite[]): void {
    const { shapes } = collection
    if (this.#newFields?.shapes !== shapes) {
      this.#oldFields = new FieldReader(shapes)
      this.#newFields = new FieldReader(shapes)
    }
    const newFields = this.#newFields
    for (const definition of collection.indexes) {
      const tree = transaction.tree(indexTreeName(collection.number, definition.number))!
      const { removed, inserted, lists } =
        definition.text === undefined
          ? this.#differences(definition, writes, newFields)
          : this.#textDifferences(definition, writes, newFields)
      for (const key of removed.sort()) tree.remove(key as Key, 0)
      tree.insertMany(inserted.sort() as Key[], new Array<Bytes>(inserted.length).fill(NOTHING))
      for (const { key, before, after } of lists ?? []) {
        if (after === undefined) tree.remove(key, texts().encodeList(before!).length)
        else if (before !== undefined) tree.replace(key, after)
        else tree.insert(key, after)
      }
    }
  }

  /** All that are missing in memory are fetched together, index by index. */
  #readTexts(transaction: WriteTransaction, collection: CollectionState, writes: readonly DocumentWrite[]): void {
    for (const definition of collection.indexes) {
      if (definition.text === undefined) continue
      const known = writes.filter((write) => hasEntries(definition, write))
      if (known.length === 0) continue
      known.sort((left, right) => left.old!.number - right.old!.number)
      const tree = existingTree(transaction, indexTreeName(collection.number, definition.number))
      const { decodeList, listKey } = texts()
      tree.getMany(known.map(({ old }) => listKey(old!.number))).forEach((list, at) => {
        if (list === undefined) return
        const write = known[at]!
        const texts = new Map(this.#oldTexts.get(write)).set(definition.number, decodeList(list))
        this.#oldTexts.set(write, texts)
      })
    }
  }

  #differences(definition: IndexDefinition, writes: readonly DocumentWrite[], newFields: FieldReader): Differences {
    const oldFields = this.#oldFields
    const removed: string[] = []
    const inserted: string[] = []
    for (const write of writes) {
      const { old, number, live } = write
      let before = NO_KEYS
      let after = NO_KEYS
      if (hasEntries(definition, write)) {
        oldFields.load(old!)
        before = this.#tests.keys(definition, oldFields.read, number)
      }
      if (live !== undefined && definition.builtTo === undefined) {
        newFields.load(live)
        after = this.#tests.keys(definition, newFields.read, number)
      }
      addDifferences(before, after, removed, inserted)
    }
    return { removed, inserted }
  }

  #textDifferences(definition: IndexDefinition, writes: readonly DocumentWrite[], newFields: FieldReader): Differences {
    const removed: string[] = []
    const inserted: string[] = []
    const lists: ListChange[] = []
    const { encodeList, listKey, textContent, textKeys } = texts()
    for (const write of writes) {
      const { number, live } = write
      const before = this.#oldTexts.get(write)?.get(definition.number)
      let after: TextContent | undefined
      if (live !== undefined && definition.builtTo === undefined) {
        newFields.load(live)
        if (this.#tests.includes(definition, newFields.read)) after = textContent(definition, newFields.read)
      }
      if (before === undefined && after === undefined) continue
      addDifferences(
        before ? textKeys(before, number) : NO_KEYS,
        after ? textKeys(after, number) : NO_KEYS,
        removed,
        inserted,
      )
      lists.push({ key: listKey(number), before, after: after && encodeList(after) })
    }
    lists.sort((left, right) => (left.key < right.key ? -1 : 1))
    return { removed, inserted, lists }
  }
}

interface Differences {
  readonly removed: string[]
  readonly inserted: string[]
  /** Only for a text index. */
  readonly lists?: readonly ListChange[]
}

interface ListChange {
  readonly key: Key
  readonly before: TextContent | undefined
  readonly after: Uint8Array | undefined
}

/** The index may have entries of what the document was. */
function hasEntries({ builtTo }: IndexDefinition, { old }: DocumentWrite): boolean {
  return old !== undefined && !old.deleted && (builtTo === undefined || old.sequence <= builtTo)
}

function addDifferences(
  before: readonly string[],
  after: readonly string[],
  removed: string[],
  inserted: string[],
): void {
  if (before.length === 0) for (const key of after) inserted.push(key)
  else if (before.length > 1 || after.length !== 1 || before[0] !== after[0]) {
    const kept = new Set(after)
    for (const key of before) if (!kept.delete(key)) removed.push(key)
    for (const key of kept) inserted.push(key)
  }
}

/** The index is empty, and ready. */
function toDefinition(declaration: IndexDeclaration): IndexDefinition {
  return { number: 0, builtTo: undefined, ...declaration }
}

const NO_KEYS: readonly string[] = []
const NO_REFUSALS: Refusals = new Map()
