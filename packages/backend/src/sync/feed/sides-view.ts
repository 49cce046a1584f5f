/** The index of a collection: the sides of its records, in a view that remembers. docs/internals/ruled-sync.md is the contract. */
import { recordSide } from '@pannier/rules/cut'
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import { forgetDepartedRows, readSnapshot, rememberedRows, rememberingView, type GuardReader } from 'pannier/internal'
import { ruleRecord } from '../../access/rule-records.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { LOG_LEVELS, type LogWriter } from '../../gateway/log-entry.ts'
import { groundOf } from './spans.ts'
import { SIDES_VIEW, type SyncRules } from '../rules/sync-rules.ts'

/** How often an index is brought up to what others have written meanwhile. */
const UPDATES_MAX = 5
/** An update that takes longer is noted in the log, after each fifth of it. */
const NOTED_MS = 2000
const NOTED_PART = 0.2

export interface SidesHost {
  readonly database: Database
  readonly environment: Pick<Environment, 'now'>
  readonly logs: LogWriter
}

/** How far an index is, on one state. */
export interface IndexState {
  /** The library's number of the collection. */
  readonly collection: number
  readonly builtTo: number
  readonly forgottenTo: number
}

/** Nothing was ever written to the collection. */
export const EMPTY: IndexState = { collection: 0, builtTo: 0, forgottenTo: 0 }

/** Updates the sides of a definition by what was written. */
export async function updateSides(host: SidesHost, definition: Definition, rules: SyncRules): Promise<void> {
  const { sides, version, view: name } = rules
  const collection = host.database.collection<JsonObject>(recordsName(definition))
  const map = (document: JsonObject, emit: (key: readonly unknown[], value: unknown) => void): void => {
    for (const [place, { rule, alternative }] of sides.entries()) {
      const side = recordSide(rule, alternative, ruleRecord(document))
      for (const ground of side?.grounds ?? []) emit([place, groundOf(ground), side!.range], side!.own)
    }
  }
  const view = rememberingView(collection, { name, map, version })
  for (let round = 0; round < UPDATES_MAX; round++) {
    await view.update({ onProgress: notedProgress(host, definition) })
    if ((await view.info()).pending === 0) return
  }
}

function notedProgress({ environment, logs }: SidesHost, { name }: Definition): (done: number) => void {
  const startMs = environment.now()
  let next = 0
  return (done) => {
    if (done < next || environment.now() - startMs < NOTED_MS) return
    next = Math.min(1, done + NOTED_PART)
    const message = `The index of "${name}" for sync is made to ${Math.floor(done * 100)} %.`
    logs.write({ level: LOG_LEVELS.info, message, data: { collection: name } })
  }
}

/** How far an index of a collection is. It may miss. `collection`: the library's name. */
export function indexOf(guard: GuardReader, collection: string, view: string): IndexState {
  const rows = rememberedRows(guard, collection, view)
  if (rows === undefined) return EMPTY
  return { collection: guard.lastWrite(collection)!.number, builtTo: rows.builtTo, forgottenTo: rows.forgottenTo }
}

/** Names an index in what is stored of starts and of times. `collection`: the library's name. */
export function indexName(collection: string, view: string): string {
  return view === SIDES_VIEW ? collection : `${collection} ${view}`
}

/** Forgets what left up to a sequence: tokens of earlier states begin again. `collection`: the library's name. */
export async function forgetSides(database: Database, collection: string, view: string, upTo: number): Promise<void> {
  const { builtTo } = await readSnapshot(database, (reader) => reader.read((guard) => indexOf(guard, collection, view)))
  // Beyond it tokens would begin again for ever.
  await forgetDepartedRows(database, collection, view, Math.min(upTo, builtTo))
}
