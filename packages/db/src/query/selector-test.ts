/** What the selectors of partial indexes mean: the same as those of queries. */
import { isPromise } from '../base/async.ts'
import { Miss } from '../base/miss.ts'
import type { SelectorTest, ReadPath } from '../index/index-key.ts'
import { expressionsOf } from './ast/normalise.ts'
import { indexCondition, type PartialIndex } from './index-condition.ts'
import { compileCondition } from './match.ts'
import { prepareRegexes } from './regex/check-regex.ts'

/** Misses while regular expressions are being loaded. */
export function selectorTest(index: PartialIndex): SelectorTest {
  const condition = indexCondition(index)
  const prepared = prepareRegexes(expressionsOf(condition))
  if (isPromise(prepared)) throw new RegexMiss(prepared)
  return compileCondition<ReadPath>(condition, (path) => (read) => read(path))
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
