/** Finds the duplicates that prevent building a unique index: documents with the same unique key. */
import { indexTreeName, type CollectionState } from '../document/catalog.ts'
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import type { RunningWork } from '../base/long-work.ts'
import { prefixUpperBound } from '../codec/key-encoding.ts'
import { existingTree } from '../document/document-reader.ts'
import type { HeldTransaction } from '../kv/key-value-store.ts'
import type { IndexTests } from './index-key.ts'
import type { IndexDefinition } from './index-definition.ts'
import type { ChunkPart } from './entry-list.ts'
import { duplicatesAt, withoutNumber, type DuplicateKey } from './unique.ts'

/** Keys that the error lists. */
const DUPLICATES_LISTED_MAX = 10
/** Ids listed for one key. */
const IDS_LISTED_MAX = 10
/** Keys that one step looks at. */
const KEYS_PER_STEP = 256

interface InsertedPart {
  readonly transaction: HeldTransaction
  readonly state: CollectionState
  readonly part: ChunkPart
  /** There were no entries before. */
  readonly isFirst: boolean
  readonly tests: IndexTests
}

/** Among the documents whose keys have just been inserted, and with those that are in the index already. */
export async function findDuplicates(
  { transaction, state, part, isFirst, tests }: InsertedPart,
  work: RunningWork,
): Promise<PannierError | undefined> {
  const { index } = part
  const tree = existingTree(transaction, indexTreeName(state.number, index.number))
  const found: DuplicateKey[] = []
  for (let from = 0; from < part.count && found.length < DUPLICATES_LISTED_MAX; from += KEYS_PER_STEP) {
    const keys = new Set<string>()
    for (let at = from; at < Math.min(from + KEYS_PER_STEP, part.count); at++) {
      const key = withoutNumber(part.keyAt(at))
      if (!isFirst || (at > 0 && withoutNumber(part.keyAt(at - 1)) === key)) keys.add(key)
    }
    const more = await transaction.attempt(() =>
      Array.from(keys)
        .filter((key) => tree.count({ gte: key as Key, lt: prefixUpperBound(key) }) > 1)
        .flatMap((key) => duplicatesAt(transaction, state, index, tests, key)),
    )
    for (const one of more) if (!found.some(({ ids }) => ids[0] === one.ids[0])) found.push(one)
    await work.pause()
  }
  return found.length === 0 ? undefined : hasDuplicates(index, found.slice(0, DUPLICATES_LISTED_MAX))
}

function hasDuplicates({ name }: IndexDefinition, found: readonly DuplicateKey[]): PannierError {
  const duplicates = found.map(({ key, ids }) => ({ key, ids: ids.slice(0, IDS_LISTED_MAX) }))
  const message = `The unique index '${name}' cannot be built: the documents '${found[0]!.ids.slice(0, 2).join("' and '")}' have the same key.`
  return new PannierError('PANNIER_NOT_UNIQUE', message, { details: { index: name, duplicates } })
}
