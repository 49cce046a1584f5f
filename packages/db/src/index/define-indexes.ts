/** Indexes come and go: each function is one small change of the catalog, whatever the size of the collection. */
import { PannierError } from '../base/errors.ts'
import type { Catalog } from '../document/catalog.ts'
import type { CollectionState } from '../document/collection-state.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { indexMismatch, indexTreeName, INDEXES_MAX, NOTHING_BUILT, sameIndex } from './index-definition.ts'
import type { IndexDeclaration, IndexDefinition } from './index-definition.ts'

/** Those that the collection does not have; fails if it has one of that name which is another. */
export function missingIndexes(
  state: CollectionState | undefined,
  declarations: readonly IndexDeclaration[],
): readonly IndexDeclaration[] {
  return declarations.filter((declaration) => {
    const known = state?.indexes.find(({ name }) => name === declaration.name)
    if (known !== undefined && !sameIndex(known, declaration)) throw indexMismatch(known.name)
    return known === undefined
  })
}

/** Adds those that are missing. In an empty collection they are ready at once; else they are to be built. */
export function defineIndexes(
  transaction: WriteTransaction,
  catalog: Catalog,
  state: CollectionState,
  declarations: readonly IndexDeclaration[],
): CollectionState {
  const missing = missingIndexes(state, declarations)
  if (missing.length === 0) return state
  if (state.indexes.length + missing.length > INDEXES_MAX) {
    throw new PannierError('PANNIER_LIMIT', `A collection has at most ${INDEXES_MAX} indexes.`)
  }
  const builtTo = transaction.tree(state.trees.ids)!.count() === 0 ? undefined : NOTHING_BUILT
  const added = missing.map((declaration, at): IndexDefinition => {
    const number = state.nextIndexNumber + at
    transaction.createTree(indexTreeName(state.number, number), 'ordered')
    return { number, ...declaration, builtTo }
  })
  return catalog.setIndexes(transaction, state, [...state.indexes, ...added], state.nextIndexNumber + added.length)
}

/** False if there is none of that name. */
export function dropIndex(
  transaction: WriteTransaction,
  catalog: Catalog,
  state: CollectionState,
  name: string,
): boolean {
  const index = state.indexes.find((candidate) => candidate.name === name)
  if (index === undefined) return false
  transaction.dropTree(indexTreeName(state.number, index.number))
  catalog.setIndexes(
    transaction,
    state,
    state.indexes.filter((other) => other !== index),
  )
  return true
}
