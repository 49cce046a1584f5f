/** One storage that stands for several. What chooses is loaded with the first use. */
import { loadedModule } from '../../base/lazy-module.ts'
import { badArgument } from '../../base/options.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import { isChoice, type StorageChoice } from './storage-choice.ts'

/**
 * A storage that stands for several. A database is opened in the storage that has it. A new one is created in the first
 * that works here. `db.storage` says which that is, `db.moveTo` moves it.
 *
 * A database that is there is never made again elsewhere: if it can't be opened where it is, `open` fails.
 *
 * @throws (`open`) PANNIER_UNAVAILABLE if none of them works here. PANNIER_EXISTS if two of them have that database,
 *   and neither is the copy of an interrupted move.
 * @example
 * import { firstOf, open } from 'pannier'
 * import { indexedDb } from 'pannier/indexeddb'
 * import { opfs } from 'pannier/opfs'
 * const db = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
 */
export function firstOf(...storages: readonly DatabaseStorage[]): DatabaseStorage {
  if (storages.length === 0) throw badArgument('firstOf()', 'there must be at least one storage', undefined)
  for (const storage of storages)
    if (typeof storage?.open !== 'function' || isChoice(storage))
      throw badArgument('firstOf()', 'each storage must be one like memory()', storage)
  const chooser = () => loadedModule(import('./choose-storage.ts'))
  const choose: StorageChoice['choose'] = async (name, how) => (await chooser()).chooseStorage(storages, name, how)
  const choice: StorageChoice = {
    kind: storages.map(({ kind }) => kind).join(' or '),
    scope: storages.some(({ scope }) => scope === 'origin') ? 'origin' : 'process',
    identify: (name) => storages.map((storage) => storage.identify(name)).join(' or '),
    has: async (name) => (await Promise.all(storages.map((storage) => storage.has(name)))).includes(true),
    open: async (name) => (await choose(name, {})).held,
    destroy: async (name) => (await chooser()).destroyInAll(storages, name),
    choose,
  }
  return choice
}
