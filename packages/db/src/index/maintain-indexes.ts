/** Keeps the indexes of a collection in step with the documents that are written. */
import type { Key } from '../base/brand.ts'
import type { CollectionState } from '../document/collection-state.ts'
import type { DocumentWrite } from '../document/document-write.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { FieldReader } from './field-reader.ts'
import { indexTreeName } from './index-definition.ts'
import type { IndexDefinition } from './index-definition.ts'
import { indexKeys } from './index-key.ts'

/**
 * Removes the entries that a write makes wrong and inserts those that it makes necessary; what stays is not touched. An
 * index that is being built has entries for bodies up to `builtTo` only, so there new bodies get theirs from the builder.
 */
export function maintainIndexes(
  transaction: WriteTransaction,
  collection: CollectionState,
  writes: readonly DocumentWrite[],
): void {
  const oldFields = new FieldReader(collection.shapes)
  const newFields = new FieldReader(collection.shapes)
  for (const definition of collection.indexes) {
    const { removed, inserted } = differences(definition, writes, oldFields, newFields)
    const tree = transaction.tree(indexTreeName(collection.number, definition.number))!
    for (const key of removed.sort()) tree.remove(key as Key, 0)
    for (const key of inserted.sort()) tree.insert(key as Key, NOTHING)
  }
}

/** The value of every entry. */
export const NOTHING: Uint8Array = new Uint8Array(0)

function differences(
  definition: IndexDefinition,
  writes: readonly DocumentWrite[],
  oldFields: FieldReader,
  newFields: FieldReader,
): { readonly removed: string[]; readonly inserted: string[] } {
  const removed: string[] = []
  const inserted: string[] = []
  const { builtTo } = definition
  for (const write of writes) {
    const { old, number, live } = write
    let before = NO_KEYS
    let after = NO_KEYS
    if (old !== undefined && !old.deleted && (builtTo === undefined || old.sequence <= builtTo)) {
      oldFields.load(old)
      before = indexKeys(definition, oldFields.read, number)
    }
    if (live !== undefined && builtTo === undefined) {
      newFields.load(live)
      after = indexKeys(definition, newFields.read, number)
    }
    if (before.length === 0) for (const key of after) inserted.push(key)
    else if (before.length > 1 || after.length !== 1 || before[0] !== after[0]) {
      const kept = new Set(after)
      for (const key of before) if (!kept.delete(key)) removed.push(key)
      for (const key of kept) inserted.push(key)
    }
  }
  return { removed, inserted }
}

const NO_KEYS: readonly string[] = []
