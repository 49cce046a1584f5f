/** What the selectors of partial indexes mean: the same as those of queries. */
import { isPromise } from '../base/maybe-promise.ts'
import { Miss } from '../base/miss.ts'
import { fieldNames } from '../codec/field-path.ts'
import { isReserved } from '../codec/document-format.ts'
import type { IndexSelector } from '../document/index-definition.ts'
import type { SelectorTest } from '../index/entry-keys.ts'
import type { ReadPath } from '../index/index-key.ts'
import { expressionsOf, leavesOf, normalise, type Condition } from './ast/normalise.ts'
import { parseSelector } from './ast/parse-selector.ts'
import { compileCondition } from './match.ts'
import { prepareRegexes } from './regex/check-regex.ts'

const conditions = new WeakMap<IndexSelector, Condition>()

/** What the documents in a partial index meet. */
export function indexCondition(where: IndexSelector): Condition {
  let condition = conditions.get(where)
  if (condition === undefined) conditions.set(where, (condition = normalise(parseSelector(where))))
  return condition
}

/** Misses while regular expressions are being loaded. */
export function selectorTest(where: IndexSelector): SelectorTest {
  const condition = indexCondition(where)
  const prepared = prepareRegexes(expressionsOf(condition))
  if (isPromise(prepared)) throw new RegexMiss(prepared)
  return compileCondition<ReadPath>(condition, (path) => (read) => read(path))
}

/** Throws a TypeError for what can't be the selector of an index. */
export function checkIndexSelector(where: IndexSelector): void {
  for (const { path } of leavesOf(indexCondition(where))) {
    if (isReserved(fieldNames(path)[0]!) && path !== '_id')
      throw new TypeError(`the selector of an index can't ask for '${path}'`)
  }
}

class RegexMiss extends Miss {
  readonly #prepared: Promise<void>

  constructor(prepared: Promise<void>) {
    super()
    this.#prepared = prepared
  }

  override async load(): Promise<() => void> {
    await this.#prepared
    return () => {}
  }

  override pages(): number {
    return 0
  }
}
