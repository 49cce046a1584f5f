/** Compiles the selectors of partial indexes. They mean the same as those of queries. */
import { isPromise } from '../base/async.ts'
import { Miss } from '../base/miss.ts'
import type { SelectorTest, ReadPath } from '../index/index-key.ts'
import { expressionsOf, normalise, pathsOf, type Condition } from './ast/normalise.ts'
import { compileCondition } from './match.ts'
import { prepareRegexes } from './regex/check-regex.ts'
import { ArgumentError } from '../base/options.ts'
import { isReserved } from '../codec/encode-document.ts'
import { fieldNames } from '../codec/field-path.ts'
import type { IndexDefinition, IndexSelector } from '../document/catalog.ts'
import { parseSelector } from './ast/parse-selector.ts'

/** Misses while regular expressions are being loaded. */
export function selectorTest(index: PartialIndex): SelectorTest {
  const condition = indexCondition(index)
  const prepared = prepareRegexes(expressionsOf(condition))
  if (isPromise(prepared)) throw new Miss(() => prepared.then(() => () => {}))
  return compileCondition<ReadPath>(condition, (path) => (read) => read(path))
}

/** The selectors of partial indexes, checked when they are declared. */
type PartialIndex = Pick<IndexDefinition, 'where' | 'dialect' | 'collation'>

const conditions = new WeakMap<IndexSelector, Condition>()

/** The condition that documents of a partial index meet. */
export function indexCondition({ where, ...meaning }: PartialIndex): Condition {
  let condition = conditions.get(where!)
  if (condition === undefined) conditions.set(where!, (condition = normalise(parseSelector(where, meaning))))
  return condition
}

/** Throws a TypeError for what can't be the selector of an index. */
export function checkIndexSelector(index: PartialIndex): void {
  for (const path of pathsOf(indexCondition(index))) {
    if (isReserved(fieldNames(path)[0]!) && path !== '_id')
      throw new ArgumentError(`where must not have fields that start with '_'`, path)
  }
}
