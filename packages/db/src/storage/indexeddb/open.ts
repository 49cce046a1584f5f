/** Opens and deletes the IndexedDB databases behind ours. Both can hang in every engine, so both have a time limit. */
import { PannierError, isPannierError } from '../../base/errors.ts'
import { closedError, openError } from './errors.ts'

/** The version of the object stores; their content has versions of its own. */
const SCHEMA_VERSION = 2

export const PAGES = 'pages'
export const LOG = 'log'
export const META = 'meta'

/** In `meta`: tells this database from one that was created later under the same name. */
export const IDENTITY = 'identity'

/** In `meta`, where there is one. Stored under its former name. */
export const KEYRING = 'header'

/**
 * The key after all log records, which always exists. Without it, Chromium would look for the end of the log by a walk
 * over the remains of all records truncated lately: 0.3 ms. Behind it are the log seals.
 */
export const LOG_END = 'end'

/** Keeps our databases apart from those of others in the same origin. */
const databaseName = (name: string): string => `pannier:${name}`

/** With `create` false it fails with PANNIER_CLOSED if the database does not exist. Tried twice. */
export async function openDatabase(name: string, create: boolean, openMsMax: number): Promise<IDBDatabase> {
  // Opening what is not there and thinking better of it leaves an empty database behind in WebKit.
  if (!create && !(await exists(name))) throw destroyedError(name)
  try {
    return await openOnce(name, create, openMsMax)
  } catch (error) {
    // Engines fail to open now and then for no lasting reason: a disk that was busy, a storage process that died.
    if (!isPannierError(error, 'PANNIER_OPEN_FAILED')) throw error
    return openOnce(name, create, openMsMax)
  }
}

function openOnce(name: string, create: boolean, openMsMax: number): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    let request: IDBOpenDBRequest
    let failure: PannierError | undefined
    const fail = (error: unknown): void => {
      clearTimeout(timer)
      reject((failure ??= openError(error, name)))
    }
    const timer = setTimeout(() => {
      fail(new PannierError('PANNIER_OPEN_FAILED', `Opening '${name}' took longer than ${openMsMax} ms.`))
    }, openMsMax)
    try {
      request = factory().open(databaseName(name), SCHEMA_VERSION)
    } catch (error) {
      return fail(error)
    }
    request.onupgradeneeded = ({ oldVersion }) => {
      const isNew = oldVersion === 0
      if (isNew && !create) fail(destroyedError(name))
      if (failure) request.transaction!.abort()
      else if (isNew) createStores(request.result)
      else upgradeLog(request)
    }
    request.onerror = (event) => {
      event.preventDefault()
      fail(request.error)
    }
    request.onsuccess = () => {
      clearTimeout(timer)
      const database = request.result
      if (![PAGES, LOG, META].every((store) => database.objectStoreNames.contains(store))) {
        fail(new PannierError('PANNIER_FORMAT_WRONG', `The database '${databaseName(name)}' is not one of Pannier's.`))
      }
      if (failure) database.close()
      else resolve(database)
    }
  })
}

/** Undefined where the browser can't tell (Firefox before 126). Where it refuses to, the call fails with PANNIER_UNAVAILABLE. */
export async function isThere(name: string): Promise<boolean | undefined> {
  if (globalThis.indexedDB === undefined) return false
  return 'databases' in IDBFactory.prototype ? exists(name) : undefined
}

async function exists(name: string): Promise<boolean> {
  try {
    return (await factory().databases()).some((database) => database.name === databaseName(name))
  } catch (error) {
    throw openError(error, name)
  }
}

function destroyedError(name: string): PannierError {
  return closedError(`The database '${name}' was destroyed.`)
}

function createStores(database: IDBDatabase): void {
  database.createObjectStore(PAGES)
  createLog(database).put(0, LOG_END)
  database.createObjectStore(META).put(performance.timeOrigin + performance.now(), IDENTITY)
}

/** Keys that are generated are never used twice, not even those of deleted records: the fence of appends (log.ts). */
function createLog(database: IDBDatabase): IDBObjectStore {
  return database.createObjectStore(LOG, { autoIncrement: true })
}

/** In version 1 records were mere bytes under their sequence. */
function upgradeLog({ result: database, transaction }: IDBOpenDBRequest): void {
  if (!database.objectStoreNames.contains(LOG)) return
  const before = transaction!.objectStore(LOG)
  const keys = before.getAllKeys()
  const values = before.getAll() as IDBRequest<unknown[]>
  values.onsuccess = () => {
    database.deleteObjectStore(LOG)
    const log = createLog(database)
    keys.result.forEach((key, at) => {
      const value = values.result[at]
      log.put(typeof key === 'number' ? { sequence: key, key, bytes: value } : value, key)
    })
  }
}

/** Other handles are asked to release it. If one does not within the limit (a frozen tab), the call fails, for now. */
export function deleteDatabase(name: string, openMsMax: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const what = `Another tab keeps '${name}' open and does not let go; it is deleted once that tab is closed.`
      reject(new PannierError('PANNIER_BLOCKED', what))
    }, openMsMax)
    const fail = (error: unknown): void => {
      clearTimeout(timer)
      reject(openError(error, name))
    }
    try {
      const request = factory().deleteDatabase(databaseName(name))
      request.onerror = () => fail(request.error)
      request.onsuccess = () => {
        clearTimeout(timer)
        resolve()
      }
    } catch (error) {
      fail(error)
    }
  })
}

function factory(): IDBFactory {
  const { indexedDB } = globalThis
  if (!indexedDB) throw new PannierError('PANNIER_UNAVAILABLE', 'There is no IndexedDB here.')
  return indexedDB
}
