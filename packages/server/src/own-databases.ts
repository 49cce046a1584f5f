/** The databases that a server opens itself: files in a folder, or those of a storage that several servers share. */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isPannierError, open, PannierError } from 'pannier'
import { badArgument, endOf, environmentOf, pause } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Database } from 'pannier'
import type { FastifyBaseLogger } from 'fastify'
import {
  aloneIn,
  DATABASE_FILES,
  openFleet,
  RestoreFolder,
  ServerState,
  STATE_COLLECTION,
} from '@pannier/backend/internal'
import type { Fleet } from '@pannier/backend/internal'
import { forgetSigningKey, signingKeyIn } from './auth/signing-key.ts'
import { makePrivate, makePrivateFolder } from './http/private-files.ts'
import { cleanCopies, migrateShared, migrateUp, type MigratedFile } from './migrations/migrations.ts'
import type { ChosenOptions, RestartReason, ServerOptions } from './server-options.ts'

export interface OwnDatabases {
  readonly database: Database
  readonly logs: Database
  readonly fleet: Fleet
  signingKey(): Promise<Buffer>
  /** Whether requests can be answered: the storage answers, and has what this server knows. */
  isReady(): Promise<boolean>
  /** Calls back once, when the server has to be made again. */
  onRestart(listener: (reason: RestartReason) => void): void
  close(): Promise<void>
}

const { 'data.db': FILE_NAME, 'auxiliary.db': LOGS_FILE_NAME } = DATABASE_FILES
const PRIVATE_FILES = [FILE_NAME, LOGS_FILE_NAME].flatMap((name) => [name, `${name}-wal`, `${name}-shm`])

/** How the data of a server look. A server of an older version refuses those of a newer one. */
const FORMAT = 1
const FORMAT_ID = 'format'
const NAME = 'app'
/** Names of the databases in a storage that servers share, by their names in a backup. */
export const sharedNames = (name: string = NAME): Readonly<Record<keyof typeof DATABASE_FILES, string>> => ({
  'data.db': name,
  'auxiliary.db': `${name} logs`,
})
/** A balancer does not wait longer for an answer. */
const READY_MS_MAX = 2000
/** How long the answer is kept (ready). Many balancers may ask. */
const READY_KEPT_MS = 1000

export function openOwnDatabases(options: ChosenOptions): Promise<OwnDatabases> {
  return options.storage === undefined ? InFolder.open(options) : InStorage.open(options)
}

class InFolder implements OwnDatabases {
  readonly database: Database
  readonly logs: Database
  readonly fleet: Fleet
  readonly #dir: string
  readonly #environment: Environment

  static async open(options: ChosenOptions): Promise<InFolder> {
    const { dir, encryption } = options
    if (typeof dir !== 'string' || dir === '')
      throw badArgument('createServer()', 'dir, storage or database must be given', dir)
    await makePrivateFolder(dir)
    const restored = new RestoreFolder(dir)
    if (await restored.isReady()) {
      await restored.checkUnused({ ...(encryption && { encryption }) })
      await restored.complete(() => forgetSigningKey(dir))
    }
    await cleanCopies(dir)
    const migrations = migrationsOf(options)
    if (migrations !== undefined) {
      await migrateUp({ ...migrations, path: join(dir, FILE_NAME) })
    }
    const database = await openFile(options, FILE_NAME)
    try {
      return new InFolder(options, database, await openFile(options, LOGS_FILE_NAME))
    } catch (error) {
      await database.close()
      throw error
    }
  }

  private constructor({ dir, environment }: ChosenOptions, database: Database, logs: Database) {
    this.#dir = dir!
    this.#environment = environment
    this.database = database
    this.logs = logs
    this.fleet = aloneIn(environmentOf(database))
  }

  signingKey(): Promise<Buffer> {
    return signingKeyIn(this.#dir, this.#environment)
  }

  async isReady(): Promise<boolean> {
    return true
  }

  onRestart(): void {}

  async close(): Promise<void> {
    await this.logs.close()
    await this.database.close()
  }
}

class InStorage implements OwnDatabases {
  readonly database: Database
  readonly logs: Database
  readonly fleet: Fleet
  readonly #environment: Environment
  readonly #storage: NonNullable<ServerOptions['storage']>
  #ready: { readonly untilMs: number; readonly answer: Promise<boolean> } | undefined
  #restart: (reason: RestartReason) => void = () => {}

  /** @throws PANNIER_FORMAT_NEWER if a newer version of the server has written the data */
  static async open(options: ChosenOptions): Promise<InStorage> {
    const storage = options.storage!
    const { name = NAME, isRestored = false } = storage
    const { durability = 'relaxed', encryption, dir, environment } = options
    if (dir !== undefined) await mkdir(dir, { recursive: true })
    const own = { storage: storage.storage, ...(encryption !== undefined && { encryption }) }
    const opened: { close(): Promise<void> }[] = []
    try {
      const database = await open(name, { ...own, durability, environment })
      opened.push(database)
      const fleet = await openFleet({ ...own, name, isRestored, environment })
      opened.unshift(fleet)
      // The others wait: one applies what is pending.
      await fleet.exclusively('start', async () => {
        await checkFormat(database)
        const migrations = migrationsOf(options)
        if (migrations !== undefined) await migrateShared(database, fleet, migrations)
      })
      // As durable as the data: a failover that loses nothing of them ends no server.
      const logs = await open(sharedNames(name)['auxiliary.db'], { ...own, durability, environment })
      return new InStorage(options, database, logs, fleet)
    } catch (error) {
      for (const one of opened) await one.close()
      throw error
    }
  }

  private constructor({ storage, environment }: ChosenOptions, database: Database, logs: Database, fleet: Fleet) {
    this.#storage = storage!
    this.#environment = environment
    this.database = database
    this.logs = logs
    this.fleet = fleet
    // Each has commits of its own: a server may have seen nothing that is gone in one of them.
    for (const ended of [endOf(database), endOf(logs), fleet.ended])
      ended.addEventListener('abort', () => {
        if (isPannierError(ended.reason, 'PANNIER_RESTORED')) this.#restart('restored')
      })
    const state = new ServerState(database)
    database.subscribe(({ collections }) => {
      const { ids = [FORMAT_ID] } = collections.get(STATE_COLLECTION) ?? { ids: [] }
      if (!ids.includes(FORMAT_ID)) return
      void formatIn(state).then(
        (format) => {
          if (format > FORMAT) this.#restart('newer')
        },
        () => {},
      )
    })
  }

  signingKey(): Promise<Buffer> {
    return this.fleet.secret('session cookies')
  }

  isReady(): Promise<boolean> {
    const now = this.#environment.now()
    if (this.#ready === undefined || this.#ready.untilMs < now)
      this.#ready = { untilMs: now + READY_KEPT_MS, answer: this.#look() }
    return this.#ready.answer
  }

  onRestart(listener: (reason: RestartReason) => void): void {
    let isCalled = false
    this.#restart = (reason) => {
      if (!isCalled) void this.#environment.yield().then(() => listener(reason))
      isCalled = true
    }
  }

  async close(): Promise<void> {
    this.#restart = () => {}
    await this.fleet.close()
    await this.logs.close()
    await this.database.close()
  }

  async #look(): Promise<boolean> {
    const { storage, name = NAME } = this.#storage
    if (endOf(this.database).aborted) return false
    const answered = new AbortController()
    const late = pause(this.#environment, READY_MS_MAX, answered.signal).then(() => false)
    return Promise.race([storage.has(name).then((has) => has !== false), late])
      .catch(() => false)
      .finally(() => answered.abort())
  }
}

/** A database that is given stays open. No other server is known. */
export function givenDatabase(database: Database, signingKey: Buffer): Omit<OwnDatabases, 'logs'> {
  return {
    database,
    fleet: aloneIn(environmentOf(database)),
    signingKey: async () => signingKey,
    isReady: async () => true,
    onRestart() {},
    close: async () => {},
  }
}

/** Files that only the account of the server may read. */
export async function keepPrivate({ dir }: ServerOptions, log: FastifyBaseLogger): Promise<void> {
  if (dir !== undefined) for (const warning of await makePrivate(dir, PRIVATE_FILES)) log.warn(warning)
}

async function checkFormat(database: Database): Promise<void> {
  await database.refresh()
  const state = new ServerState(database)
  const format = await formatIn(state)
  if (format > FORMAT)
    throw new PannierError(
      'PANNIER_FORMAT_NEWER',
      `A newer version of Pannier serves this database: its data have format ${format}, and this version knows format ${FORMAT}. Update it.`,
    )
  if (format < FORMAT) await state.set(FORMAT_ID, { version: FORMAT })
}

async function formatIn(state: ServerState): Promise<number> {
  return Number((await state.get(FORMAT_ID))?.['version'] ?? 0)
}

function openFile(
  { dir, durability = 'relaxed', encryption, environment }: ChosenOptions,
  name: string,
): Promise<Database> {
  return open(join(dir!, name), { durability, environment, ...(encryption !== undefined && { encryption }) })
}

/** The folders of migrations with the keys of the database. Undefined: there are no migrations. */
function migrationsOf(options: ChosenOptions): Omit<MigratedFile, 'path'> | undefined {
  const { migrations, pocketbase, ...app } = options.app ?? {}
  if (migrations === undefined && pocketbase === undefined) return undefined
  const folder = migrations && resolve(migrations.dir)
  return { ...options, ...app, folder, pocketbase: pocketbase && resolve(pocketbase.dir) }
}
