/**
 * Forgets what only those replicas need that were away for longer than the horizon: rows that have left, holdings, starts of the server.
 * Such a replica begins again. docs/internals/ruled-sync.md is the contract.
 */
import type { Database } from 'pannier'
import { readSnapshot } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName } from '../../definitions/definition.ts'
import { BOOTS_COLLECTION } from '../../gateway/seen-clock.ts'
import type { Boots } from './boots.ts'
import { renewalOf, type HoldingsStore } from './holdings-store.ts'
import { EMPTY, forgetSides, indexName, indexOf, type IndexState } from './sides-view.ts'
import { VIEWS } from '../rules/sync-rules.ts'

/** How far the indexes were at a time, by their names. */
interface Mark {
  readonly ms: number
  readonly indexes: Readonly<Record<string, Pick<IndexState, 'collection' | 'builtTo'>>>
}

interface StoredMarks {
  readonly _id: string
  /** In the order of their times. */
  readonly marks: readonly Mark[]
}

export interface Forgetful {
  readonly database: Database
  readonly definitions: KnownDefinitions
  readonly boots: Boots
  readonly holdings: HoldingsStore
  readonly environment: Pick<Environment, 'wallClock'>
  /** The longest absence after which a replica still finds its data. */
  readonly horizonMs: number
}

const MARKS_ID = 'marks'

/** Notes how far the indexes are, for a later run, and forgets what was before the horizon; at most once in a renewal. */
export async function forgetOld(forgetful: Forgetful): Promise<void> {
  const { database, definitions, boots, holdings, environment, horizonMs } = forgetful
  const nowMs = environment.wallClock()
  const beforeMs = nowMs - horizonMs
  const stored = database.collection<StoredMarks>(BOOTS_COLLECTION)
  // A mark of the future is of a clock that was wrong.
  const known = ((await stored.get(MARKS_ID))?.marks ?? []).filter(({ ms }) => ms <= nowMs)
  if (nowMs - (known.at(-1)?.ms ?? -Infinity) < renewalOf(horizonMs)) return
  const found = await indexesOf(database, definitions)
  const indexes = Object.fromEntries(found.map(({ name, index }) => [name, index]))
  const marks = [...known, { ms: nowMs, indexes }]
  const last = marks.findLast(({ ms }) => ms <= beforeMs)
  for (const { name, collection, view, index } of found) {
    const then = last?.indexes[name]
    // Another collection of the same name has other sequences.
    if (then?.collection === index.collection) await forgetSides(database, collection, view, then.builtTo)
  }
  await stored.upsert({ _id: MARKS_ID, marks: marks.filter(({ ms }) => ms > beforeMs) })
  await holdings.forget(beforeMs)
  await boots.forget(beforeMs)
}

interface FoundIndex {
  readonly name: string
  /** The collection's name in the library. */
  readonly collection: string
  readonly view: string
  readonly index: IndexState
}

async function indexesOf(database: Database, definitions: KnownDefinitions): Promise<readonly FoundIndex[]> {
  const places = definitions.all().flatMap((definition) => {
    const collection = recordsName(definition)
    return VIEWS.map((view) => ({ name: indexName(collection, view), collection, view }))
  })
  const found = await readSnapshot(database, (reader) =>
    reader.read((guard) => places.map((place) => ({ ...place, index: indexOf(guard, place.collection, place.view) }))),
  )
  return found.filter(({ index }) => index !== EMPTY)
}
