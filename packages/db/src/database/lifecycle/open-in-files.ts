/** Opens and deletes databases in the private file system of a browser, or in IndexedDB where there is none or where they are already. */
import { checkOptions, type OptionNames } from '../../base/options.ts'
import { exists } from '../../storage/indexeddb/open.ts'
import { indexedDb } from '../../storage/indexeddb/indexeddb.ts'
import { hasFolder } from '../../storage/opfs/access-files.ts'
import { hasFileSystem, opfs as inFiles, type OpfsOptions } from '../../storage/opfs/opfs.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import { destroyByChoice, openByChoice, type Choice } from './choose-storage.ts'
import type { Database } from '../database.ts'
import { destroy as destroyIn, type DestroyOptions } from './destroy.ts'
import { open as openIn, type OpenOptions } from './open.ts'

export interface OpfsOpenOptions<Schemas extends object = Record<string, unknown>>
  extends OpenOptions<Schemas>, Pick<OpfsOptions, 'worker'> {}

export interface OpfsDestroyOptions extends DestroyOptions, Pick<OpfsOptions, 'worker'> {}

/**
 * As `open` of `pannier`, but it picks the storage. An existing database is opened where it is. A new one goes to the
 * private file system if the page may use it, else to IndexedDB. `db.storage` says which; `db.moveTo` moves it. Outside
 * browsers it is `open` of `pannier`.
 *
 * @param options `storage` overrides; `worker` is as for `opfs`.
 * @throws as `open`; PANNIER_UNAVAILABLE if it is in the file system and the worker can't be started; PANNIER_EXISTS if there is one of that
 *   name in each storage, made apart.
 * @example
 * import { open, opfs } from 'pannier/opfs'
 * let db = await open('shop')
 * if (db.storage === 'indexeddb' && (await user.wantsItFaster())) {
 *   await db.moveTo(opfs())
 *   db = await open('shop')
 * }
 */
export function open<Schemas extends object = object>(
  name: string,
  options: OpfsOpenOptions<Schemas> = {},
): Promise<Database<Schemas>> {
  const { worker, ...rest } = options
  if (rest.storage !== undefined || !hasFileSystem()) return openIn(name, rest)
  return openByChoice(choiceWith(worker), name, rest)
}

const OPFS_OPTIONS: OptionNames<OpfsOptions> = { worker: true, fallback: true }
const DESTROY_OPTIONS: OptionNames<OpfsDestroyOptions> = { storage: true, worker: true }

/**
 * Destroys a database wherever it is; does nothing if it does not exist. As `destroy` of `pannier` with `storage`, or
 * not in a browser.
 */
export function destroy(name: string, options: OpfsDestroyOptions = {}): Promise<void> {
  checkOptions('destroy()', options, DESTROY_OPTIONS)
  const { worker, ...rest } = options
  if (rest.storage !== undefined || !hasFileSystem()) return destroyIn(name, rest)
  return destroyByChoice(choiceWith(worker), name)
}

/** The files of a browser's private file system, as a storage. @throws TypeError for an unknown option. */
export function opfs(options: OpfsOptions = {}): DatabaseStorage {
  checkOptions('opfs()', options, OPFS_OPTIONS)
  return inFiles(options)
}

function choiceWith(worker: OpfsOptions['worker']): Choice {
  return {
    preferred: { storage: inFiles(worker && { worker }), has: hasFolder },
    fallback: { storage: indexedDb(), has: mayExist },
  }
}

/** Where a browser can't tell (Firefox before 126) there may be one. */
async function mayExist(name: string): Promise<boolean> {
  return !('databases' in IDBFactory.prototype) || exists(name)
}
