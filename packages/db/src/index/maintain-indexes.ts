/** Keeps the indexes of a collection up to date with the documents that are written. */
import { lazyModule } from '../base/lazy-module.ts'
import { indexTreeName, type CollectionState } from '../document/catalog.ts'
import type { DocumentWrite, IndexMaintenance, PreparedWork, Refusals } from '../document/document-write.ts'
import type { TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import { EntryChanges, FieldReader, hasEntries, IndexTests, NO_KEYS, type CompileSelector } from './index-key.ts'
import type { IndexDeclaration, IndexDefinition } from './index-definition.ts'
import type { TextMaintenance } from './text/maintain-text.ts'

/** `declared`: what a collection gets when it is made. */
export function indexMaintenance(
  compile: CompileSelector,
  declared: () => readonly IndexDeclaration[] = () => [],
): IndexMaintenance {
  return new Maintenance(new IndexTests(compile), declared)
}

/** Most applications have no such indexes. */
const texts = lazyModule(() => import('./text/maintain-text.ts'))
const uniqueness = lazyModule(() => import('./unique.ts'))

class Maintenance implements IndexMaintenance {
  readonly #tests: IndexTests
  readonly #declared: () => readonly IndexDeclaration[]
  #texts: TextMaintenance | undefined
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
    if (indexes.some(({ text }) => text !== undefined)) {
      // `apply` must not miss it.
      this.#texts ??= new (texts().TextMaintenance)(this.#tests)
      this.#texts.prepare(transaction, collection, work.writes)
    }
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
    for (const definition of collection.indexes) {
      const tree = transaction.tree(indexTreeName(collection.number, definition.number))!
      if (definition.text === undefined) this.#applyTo(tree, definition, writes)
      else this.#texts!.apply(tree, definition, writes, this.#newFields)
    }
  }

  #applyTo(tree: TreeWriter, definition: IndexDefinition, writes: readonly DocumentWrite[]): void {
    const changes = new EntryChanges()
    const keysOf = (
      fields: FieldReader,
      content: Parameters<FieldReader['load']>[0],
      number: number,
    ): readonly string[] => {
      fields.load(content)
      return this.#tests.keys(definition, fields.read, number)
    }
    for (const write of writes) {
      const { old, number, live } = write
      const before = hasEntries(definition, write) ? keysOf(this.#oldFields, old!, number) : NO_KEYS
      const isWritten = live !== undefined && definition.builtTo === undefined
      changes.add(before, isWritten ? keysOf(this.#newFields!, live, number) : NO_KEYS)
    }
    changes.apply(tree)
  }
}

/** The index is empty, and ready. */
function toDefinition(declaration: IndexDeclaration): IndexDefinition {
  return { number: 0, builtTo: undefined, ...declaration }
}

const NO_REFUSALS: Refusals = new Map()
