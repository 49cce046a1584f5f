/** One storage that stands for several. What chooses is loaded with the first use. */
import { loadedModule } from '../../base/lazy-module.ts'
import { badArgument, checkOptions, type OptionNames } from '../../base/options.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import { isChoice, type FirstOfOptions, type StorageChoice } from './storage-choice.ts'

const OPTIONS: OptionNames<FirstOfOptions> = { onSeveral: true }

/**
 * A storage that stands for several. A database is opened in the storage that has it. A new one is created in the first
 * that works here. `db.storage` says which that is, `db.moveTo` moves it.
 *
 * A database that is there is never made again elsewhere: if it can't be opened where it is, `open` fails.
 *
 * @throws (`open`) PANNIER_UNAVAILABLE if none of them works here, or the one that has the database does not. PANNIER_EXISTS if two of
 *   them have that database, and neither is the copy of an interrupted move; `onSeveral` says which one to open.
 * @example
 * import { firstOf, open } from 'pannier'
 * import { indexedDb } from 'pannier/indexeddb'
 * import { opfs } from 'pannier/opfs'
 * const db = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
 */
export function firstOf(
  ...parts: readonly DatabaseStorage[] | readonly [...DatabaseStorage[], FirstOfOptions]
): DatabaseStorage {
  const last = parts.at(-1)
  const options = isOptions(last) ? last : {}
  checkOptions('firstOf()', options, OPTIONS)
  const storages = (isOptions(last) ? parts.slice(0, -1) : parts) as readonly DatabaseStorage[]
  if (storages.length === 0) throw badArgument('firstOf()', 'there must be at least one storage', undefined)
  for (const storage of storages)
    if (typeof storage?.open !== 'function' || isChoice(storage))
      throw badArgument('firstOf()', 'each storage must be one like memory()', storage)
  const chooser = () => loadedModule(import('./choose-storage.ts'))
  const choose: StorageChoice['choose'] = async (name, how) =>
    (await chooser()).chooseStorage({ storages, ...options }, name, how)
  const choice: StorageChoice = {
    kind: storages.map(({ kind }) => kind).join(' or '),
    scope: storages.some(({ scope }) => scope === 'origin') ? 'origin' : 'process',
    identify: (name) => storages.map((storage) => storage.identify(name)).join(' or '),
    async has(name) {
      const has = await Promise.all(storages.map((storage) => storage.has(name)))
      return has.includes(true) || (has.includes(undefined) ? undefined : false)
    },
    open: async (name) => (await choose(name, {})).held,
    destroy: async (name) => (await chooser()).destroyInAll(storages, name),
    choose,
  }
  return choice
}

function isOptions(part: DatabaseStorage | FirstOfOptions | undefined): part is FirstOfOptions {
  return typeof part === 'object' && part !== null && !('open' in part)
}
