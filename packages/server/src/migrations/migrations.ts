/** Migrations of a server's folder: files that are loaded as modules, applied to its database file whole or not at all. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { open, type Database, type OpenOptions } from 'pannier'
import type { Environment } from 'pannier/types'
import { openBackend, ServiceError, type Backend } from '@pannier/backend'
import {
  applyMigrations,
  changeWhole,
  isUnfinishedCopy,
  lastMigrations,
  migrationApp,
  migrationNames,
  pendingMigrations,
  revertMigrations,
  type Fleet,
  type MigrationFile,
} from '@pannier/backend/internal'

/** A database file and its migrations. */
export interface MigratedFile {
  /** The database file. */
  readonly path: string
  /** The folder of the migrations. */
  readonly folder: string
  readonly environment: Environment
  readonly encryption?: OpenOptions['encryption']
  readonly settingsKey?: string
}

/** In the order of their names. */
export async function migrationFiles(folder: string): Promise<readonly MigrationFile[]> {
  const names = await migrationNames(folder)
  return names.map((name) => ({
    name,
    load: async () =>
      (await import(pathToFileURL(join(folder, name)).href)) as Awaited<ReturnType<MigrationFile['load']>>,
  }))
}

/** Applies what has not been, and returns the names. @throws ServiceError INVALID, PANNIER_LOCKED; nothing has changed then */
export async function migrateUp(file: MigratedFile): Promise<readonly string[]> {
  const files = await migrationFiles(file.folder)
  if (files.length === 0 || !(await hasPending(await open(file.path, openOptions(file)), files))) return []
  return change(file, async ({ database: copy, app }) => {
    // Another process may have applied some meanwhile.
    const left = await pendingMigrations(copy, files)
    await applyMigrations(copy, app, left)
    return left
  })
}

/**
 * Applies what has not been in a database that several servers share, one after another. Call it while no other server of the fleet does.
 * Each runs in a copy first: one that fails there changes nothing. One whose server is killed is applied again by the next start.
 *
 * @throws ServiceError INVALID
 */
export async function migrateShared(
  database: Database,
  fleet: Fleet,
  { folder, ...keys }: Omit<MigratedFile, 'path'>,
): Promise<readonly string[]> {
  const pending = await pendingMigrations(database, await migrationFiles(folder))
  if (pending.length === 0) return []
  await rehearse(database, pending, keys)
  await applyIn(database, pending, keys, fleet).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    const message = error.message.replace(
      'Nothing was changed.',
      'It succeeded in a copy: a part of it may be in the database.',
    )
    throw new ServiceError('INVALID', message, { cause: error })
  })
  return pending.map(({ name }) => name)
}

/** Reverts the last ones, and returns the names. @throws as `migrateUp` */
export async function migrateDown(file: MigratedFile, count: number): Promise<readonly string[]> {
  const files = await migrationFiles(file.folder)
  return change(file, async ({ database, app }) => {
    const last = await lastMigrations(database, files, count)
    await revertMigrations(database, app, last)
    return last
  })
}

/** Removes copies that a killed process has left. */
export async function cleanCopies(dir: string): Promise<void> {
  for (const name of await readdir(dir))
    if (isUnfinishedCopy(name)) await rm(join(dir, name), { recursive: true, force: true })
}

async function hasPending(database: Database, files: readonly MigrationFile[]): Promise<boolean> {
  try {
    return (await pendingMigrations(database, files)).length > 0
  } finally {
    await database.close()
  }
}

function openOptions({ encryption, environment }: Keys): OpenOptions {
  return { environment, ...(encryption !== undefined && { encryption }) }
}

type Keys = Pick<MigratedFile, 'encryption' | 'settingsKey' | 'environment'>

async function rehearse(database: Database, pending: readonly MigrationFile[], keys: Keys): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pannier-migrations-'))
  try {
    const copy = await open(join(folder, 'copy'), {
      from: database.snapshot(),
      ...openOptions(keys),
    })
    try {
      await applyIn(copy, pending, keys)
    } finally {
      await copy.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function applyIn(
  database: Database,
  pending: readonly MigrationFile[],
  { settingsKey }: Keys,
  fleet?: Fleet,
): Promise<void> {
  const options = { sendsMails: false, ...(settingsKey !== undefined && { settingsKey }), ...(fleet && { fleet }) }
  await withBackend(await openBackend(database, options), (backend) =>
    applyMigrations(database, migrationApp(backend), pending),
  )
}

interface Opened {
  readonly database: Database
  readonly app: ReturnType<typeof migrationApp>
}

async function change(
  file: MigratedFile,
  work: (opened: Opened) => Promise<readonly MigrationFile[]>,
): Promise<readonly string[]> {
  let changed: readonly MigrationFile[] = []
  const { settingsKey } = file
  await changeWhole(file.path, async (copy) => {
    const database = await open(copy, openOptions(file))
    try {
      changed = await withBackend(
        await openBackend(database, { sendsMails: false, ...(settingsKey !== undefined && { settingsKey }) }),
        (backend) => work({ database, app: migrationApp(backend) }),
      )
    } finally {
      await database.close()
    }
  })
  return changed.map(({ name }) => name)
}

async function withBackend<T>(backend: Backend, work: (backend: Backend) => Promise<T>): Promise<T> {
  try {
    return await work(backend)
  } finally {
    await backend.close()
  }
}
