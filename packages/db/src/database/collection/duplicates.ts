/** Lists the duplicates that replication has brought into a unique index. One walk over the entries. */
import { PannierError } from '../../base/errors.ts'
import { checkOptions, type OptionNames } from '../../base/options.ts'
import { IndexTests } from '../../index/index-key.ts'
import { duplicatesAt, withoutNumber, type DuplicateKey } from '../../index/unique.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { selectorTest } from '../../query/selector-test.ts'

const ENTRIES_PER_STEP = 4096

interface DuplicatesOptions {
  readonly limit?: number
}

const OPTIONS: OptionNames<DuplicatesOptions> = { limit: true }
const KEYS_DEFAULT = 100

/** At most `limit` keys. */
export async function findDuplicates(
  source: QuerySource,
  name: string,
  options: DuplicatesOptions,
): Promise<DuplicateKey[]> {
  checkOptions('duplicates()', options, OPTIONS)
  const { limit = KEYS_DEFAULT } = options
  const index = source.indexes.find((candidate) => candidate.name === name)
  if (index?.unique !== true || index.builtTo !== undefined) {
    throw new PannierError('PANNIER_NOT_FOUND', `There is no unique index '${name}' that is ready.`, {
      details: { index: name },
    })
  }
  const { snapshot, collection } = source.documents
  const tests = new IndexTests(selectorTest)
  const cursor = source.index(index).cursor()
  const found: DuplicateKey[] = []
  let last = ''
  let told = ''
  for (let going = true; going && found.length < limit;) {
    const shared: string[] = []
    going = await source.attempt(() => {
      for (let looked = 0; looked < ENTRIES_PER_STEP; looked++) {
        if (!cursor.next()) return false
        const key = withoutNumber(cursor.key)
        if (key === last && key !== told) shared.push((told = key))
        last = key
      }
      return true
    })
    for (const key of shared) {
      found.push(...(await source.attempt(() => duplicatesAt(snapshot, collection, index, tests, key))))
    }
  }
  return found.slice(0, limit)
}
