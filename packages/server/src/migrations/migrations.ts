/** Migrations of a server's folder: files that are loaded as modules, applied to its database file whole or not at all. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { open, type Database, type OpenOptions } from 'pannier'
import { openBackend, type Backend } from '@pannier/backend'
import {
  applyMigrations,
  changeWhole,
  isUnfinishedCopy,
  lastMigrations,
  migrationApp,
  migrationNames,
  pendingMigrations,
  revertMigrations,
  type MigrationFile,
} from '@pannier/backend/internal'

/** A database file and its migrations. */
export interface MigratedFile {
  /** The database file. */
  readonly path: string
  /** The folder of the migrations. */
  readonly folder: string
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
  if (files.length === 0 || !(await hasPending(await open(file.path, unlocking(file)), files))) return []
  return change(file, async ({ database: copy, app }) => {
    // Another process may have applied some meanwhile.
    const left = await pendingMigrations(copy, files)
    await applyMigrations(copy, app, left)
    return left
  })
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

function unlocking({ encryption }: MigratedFile): OpenOptions {
  return encryption === undefined ? {} : { encryption }
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
    const database = await open(copy, unlocking(file))
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
