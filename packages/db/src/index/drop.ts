/** Drops indexes and collections, whatever their size. Loaded on first use. */
import type { Key } from '../base/brand.ts'
import {
  CATALOG,
  type Catalog,
  type CollectionState,
  indexTreeName,
  prefixCursor,
  shapePrefix,
} from '../document/catalog.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'

/** False if none has that name. */
export function dropIndex(
  transaction: WriteTransaction,
  catalog: Catalog,
  state: CollectionState,
  name: string,
): boolean {
  const index = state.indexes.find((candidate) => candidate.name === name)
  if (index === undefined) return false
  transaction.dropTree(indexTreeName(state.number, index.number))
  catalog.change(transaction, state, { indexes: state.indexes.filter((other) => other !== index) })
  return true
}

/** Drops the collection with everything in it. */
export function dropCollection(transaction: WriteTransaction, catalog: Catalog, state: CollectionState): void {
  for (const name of transaction.treeNames(`${state.number}/`)) transaction.dropTree(name)
  const tree = transaction.tree(CATALOG)!
  const cursor = prefixCursor(tree, shapePrefix(state.number))!
  const keys: Key[] = []
  while (cursor.next()) keys.push(cursor.key)
  for (const key of keys) tree.remove(key)
  catalog.forget(tree, state.name)
}
