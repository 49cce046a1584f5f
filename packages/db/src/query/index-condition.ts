/** The selectors of partial indexes, checked when they are declared. */
import { ArgumentError } from '../base/options.ts'
import { isReserved } from '../codec/document-format.ts'
import { fieldNames } from '../codec/field-path.ts'
import type { IndexDefinition, IndexSelector } from '../document/collection-state.ts'
import { leavesOf, normalise, type Condition } from './ast/normalise.ts'
import { parseSelector } from './ast/parse-selector.ts'

export type PartialIndex = Pick<IndexDefinition, 'where' | 'dialect' | 'collation'>

const conditions = new WeakMap<IndexSelector, Condition>()

/** What the documents in a partial index meet. */
export function indexCondition({ where, ...meaning }: PartialIndex): Condition {
  let condition = conditions.get(where!)
  if (condition === undefined) conditions.set(where!, (condition = normalise(parseSelector(where, meaning))))
  return condition
}

/** Throws a TypeError for what can't be the selector of an index. */
export function checkIndexSelector(index: PartialIndex): void {
  for (const { path } of leavesOf(indexCondition(index))) {
    if (isReserved(fieldNames(path)[0]!) && path !== '_id')
      throw new ArgumentError(`the where of an index must not name fields that start with '_'`, path)
  }
}
