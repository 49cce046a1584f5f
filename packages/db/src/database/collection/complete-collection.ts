/** Adds declared settings and indexes that a stored collection lacks. In most runs of an app nothing is missing. */
import type { CollectionState } from '../../document/catalog.ts'
import { buildIndexes } from '../../index/build-indexes.ts'
import { defineIndexes, missingIndexes, type IndexDeclaration } from '../../index/index-definition.ts'
import { selectorTest } from '../../query/selector-test.ts'
import { hasSettings, type ChosenSettings } from './collection-settings.ts'
import type { DatabaseContext } from '../database-context.ts'
import { eitherSignal, type LongWork } from '../../base/long-work.ts'

/** `declared` is asked each time, as an index may be dropped meanwhile. Gives the collection as it is then; undefined if it was dropped. */
export async function completeCollection(
  name: string,
  { store, catalog, environment, closing }: DatabaseContext,
  declared: () => readonly IndexDeclaration[],
  settings: Readonly<ChosenSettings>,
  migrate: () => Promise<void>,
  { signal, onProgress }: LongWork,
): Promise<CollectionState | undefined> {
  let state = await store.read((snapshot) => catalog.collection(snapshot, name))
  if (state !== undefined && !hasSettings(state, settings)) {
    state = await store.write((transaction) => {
      const current = catalog.collection(transaction, name)
      return current && catalog.change(transaction, current, { settings: { ...current.settings, ...settings } })
    })
  }
  if (state === undefined) return undefined
  await migrate()
  for (;;) {
    if (missingIndexes(state, declared()).length > 0) {
      state = await store.write((transaction) => {
        const current = catalog.collection(transaction, name)
        return current && defineIndexes(transaction, catalog, current, declared())
      })
    }
    if (!state?.indexes.some(({ builtTo }) => builtTo !== undefined)) return state
    const building = { store, catalog, name, environment, compile: selectorTest, onProgress }
    await buildIndexes({ ...building, signal: eitherSignal(closing, signal) })
    const built = await store.read((snapshot) => catalog.collection(snapshot, name))
    // Another handle that built it as well has found duplicates, and dropped it: this one has to hear of them too.
    const isGone = built?.number === state.number && missingIndexes(built, declared()).some(({ unique }) => unique)
    if (!isGone) return state
    state = built
  }
}
