/**
 * Restoring in two steps, so that a folder has the old databases or the new ones, whenever the process is killed. The first step
 * makes and checks the new files in a folder of their own, which gets its final name when they are complete. The second one is
 * the next start's: it moves them to their places, and begins again if it was stopped.
 */
import { mkdtemp, open as openFile, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { destroy, isPannierError, open, type Database, type OpenOptions } from 'pannier'
import type { DatabaseStorage } from 'pannier/storage'
import { Definitions } from '../definitions/definitions.ts'
import { DEFINITIONS_COLLECTION } from '../definitions/store.ts'
import { errorText } from '../gateway/log-entry.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { Settings } from '../settings/settings.ts'
import { Archive, type DatabaseName } from './archive.ts'

/** The file of each database in the folder of a server. */
export const DATABASE_FILES: Readonly<Record<DatabaseName, string>> = {
  'data.db': 'pannier.sqlite',
  'auxiliary.db': 'logs.sqlite',
}

const READY = 'restore.ready'
const UNFINISHED = 'restore.unfinished-'

/** The options of the databases of a restored server. `onProgress` gets bytes. */
export interface RestoreOptions extends Pick<OpenOptions, 'encryption' | 'signal' | 'onProgress'> {
  /** The key of the settings. */
  readonly settingsKey?: string
}

/** The databases that are made, by their names there. */
interface Target {
  readonly names: Readonly<Record<DatabaseName, string>>
  readonly storage?: DatabaseStorage
}

const TARGET_FILES: readonly DatabaseName[] = ['auxiliary.db', 'data.db']

/** The folder of a server whose databases are replaced. */
export class RestoreFolder {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  /**
   * Makes the files that the next start takes. Nothing else in the folder changes.
   *
   * @throws ServiceError INVALID for an archive that is damaged, or no backup of a server
   */
  async prepare(path: string, options: RestoreOptions): Promise<void> {
    const unfinished = await mkdtemp(join(this.#dir, UNFINISHED))
    try {
      await unpackFiles(path, unfinished, options)
      for (const name of await readdir(unfinished)) await syncPath(join(unfinished, name))
      await syncPath(unfinished)
      await rm(this.#ready, { recursive: true, force: true })
      await rename(unfinished, this.#ready)
      await syncPath(this.#dir)
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true })
      throw notRestored(error)
    }
  }

  /** Whether files wait for the next start. */
  async isReady(): Promise<boolean> {
    return stat(this.#ready).then(
      () => true,
      () => false,
    )
  }

  /** @throws PANNIER_LOCKED if another process has the databases of the folder open */
  async checkUnused(options: Pick<OpenOptions, 'encryption'>): Promise<void> {
    try {
      const database = await open(join(this.#dir, DATABASE_FILES['data.db']), options)
      await database.close()
    } catch (error) {
      // One that is damaged can be replaced.
      if (isPannierError(error, 'PANNIER_LOCKED')) throw error
    }
  }

  /**
   * Puts the files that wait in their places. Call `checkUnused` before. `forget` removes what does not belong to the new ones.
   */
  async complete(forget: () => Promise<void>): Promise<void> {
    const dir = this.#dir
    const waiting = await readdir(this.#ready)
    await forget()
    for (const name of Object.values(DATABASE_FILES)) {
      if (!waiting.includes(name)) continue
      // Those of the old database must not be read with the new one.
      for (const suffix of ['-wal', '-shm']) await rm(join(dir, name + suffix), { force: true })
      await rename(join(this.#ready, name), join(dir, name))
    }
    await syncPath(dir)
    await rm(this.#ready, { recursive: true, force: true })
  }

  /** Removes what a process has left that was killed. */
  async clean(): Promise<void> {
    for (const name of await readdir(this.#dir))
      if (name.startsWith(UNFINISHED)) await rm(join(this.#dir, name), { recursive: true, force: true })
  }

  get #ready(): string {
    return join(this.#dir, READY)
  }
}

/**
 * Makes the databases of a server in a storage that has no data of one, while no server uses it. The data come last: where they are, all
 * is. A restore that was killed is begun again.
 *
 * @param names Of the databases in that storage.
 * @throws ServiceError CONFLICT if there are data already, INVALID for an archive that is damaged, or no backup of a server
 */
export async function restoreInto(
  storage: DatabaseStorage,
  names: Target['names'],
  path: string,
  options: RestoreOptions,
): Promise<void> {
  const { 'data.db': data, 'auxiliary.db': logs } = names
  if ((await storage.has(data)) !== false)
    throw new ServiceError('CONFLICT', `There is a database ${data} already. Restore into another, empty one.`)
  const archive = await Archive.open(path).catch((error: unknown) => {
    throw notRestored(error)
  })
  try {
    // What a restore that was killed has left.
    await destroy(logs, { storage })
    await unpack(archive, { names, storage }, options)
  } catch (error) {
    // Where there are data now, a server has come: the rest is its own.
    if ((await storage.has(data)) === false) await destroy(logs, { storage })
    throw notRestored(error)
  } finally {
    archive.close()
  }
}

function notRestored(error: unknown): unknown {
  if (error instanceof ServiceError || isPannierError(error, 'PANNIER_ABORTED')) return error
  const message = `The backup can't be restored: ${reasonOf(error)}. Nothing was changed.`
  return new ServiceError('INVALID', message, { cause: error })
}

async function unpackFiles(path: string, folder: string, options: RestoreOptions): Promise<void> {
  const archive = await Archive.open(path)
  try {
    const { bavail, bsize } = await statfs(folder)
    if (archive.unpackedBytes > bavail * bsize)
      throw new Error(`it needs ${archive.unpackedBytes} bytes, and the disk has ${bavail * bsize}`)
    const names = {
      'data.db': join(folder, DATABASE_FILES['data.db']),
      'auxiliary.db': join(folder, DATABASE_FILES['auxiliary.db']),
    }
    await unpack(archive, { names }, options)
  } finally {
    archive.close()
  }
}

/** Unpacks an archive. A failure leaves no `data.db`. */
async function unpack(
  archive: Archive,
  { names, ...place }: Target,
  { settingsKey, onProgress, ...options }: RestoreOptions,
): Promise<void> {
  let doneBefore = 0
  for (const file of TARGET_FILES) {
    let done = 0
    const from = archive.has(file) && {
      from: archive.read(file),
      onProgress: (bytes: number) => onProgress?.(doneBefore + (done = bytes)),
    }
    const database = await open(names[file], { ...options, ...place, durability: 'strict', ...from })
    try {
      if (file === 'data.db') await check(database, settingsKey)
      await database.close()
    } catch (error) {
      await database.close()
      await destroy(names[file], place)
      throw error
    }
    doneBefore += done
  }
}

/** The snapshot has checked its bytes. */
async function check(database: Database, settingsKey: string | undefined): Promise<void> {
  if (!(await database.collections()).includes(DEFINITIONS_COLLECTION)) throw new Error('its data.db is of no server')
  const definitions = await Definitions.open(database)
  await definitions.close()
  await (await Settings.open(database, { key: settingsKey })).close()
}

/** The reason of an error, without a full stop. */
function reasonOf(error: unknown): string {
  return errorText(error)
    .replace(/^\w*Error: /, '')
    .replace(/\.$/, '')
}

/** Makes the content of a path safe from a loss of power. */
async function syncPath(path: string): Promise<void> {
  const handle = await openFile(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
