/** Migrations of a server's folder: files that are loaded as modules, applied to its database file whole or not at all. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, type Database, type OpenOptions } from 'pannier'
import type { Environment } from 'pannier/types'
import { openBackend, ServiceError, type Backend } from '@pannier/backend'
import { migrationApp, Migrations, type Fleet, type StepsOfFile } from '@pannier/backend/internal'
import { changeWhole, isUnfinishedCopy } from './whole-file.ts'

/** A database file and its migrations. */
export interface MigratedFile {
  /** The database file. */
  readonly path: string
  /** The folder of the migrations, if there is one. */
  readonly folder: string | undefined
  /** The folder of a PocketBase project, whose `pb_migrations` are applied too. */
  readonly pocketbase: string | undefined
  readonly environment: Environment
  readonly encryption?: OpenOptions['encryption']
  readonly settingsKey?: string
}

/** Applies what has not been, and returns the names. @throws ServiceError INVALID, PANNIER_LOCKED; nothing has changed then */
export async function migrateUp(file: MigratedFile): Promise<readonly string[]> {
  const migrations = await migrationsOf(file)
  if (migrations.isEmpty || !(await hasPending(await open(file.path, openOptions(file)), migrations))) return []
  // Another process may apply some meanwhile: what is pending is asked again.
  return change(file, ({ database: copy, app, steps }) => migrations.up(copy, app, steps))
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
  file: Omit<MigratedFile, 'path'>,
): Promise<readonly string[]> {
  const migrations = await migrationsOf(file)
  if ((await migrations.pending(database)).length === 0) return []
  await rehearse(database, migrations, file)
  return await applyIn(database, migrations, file, fleet).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    const message = error.message.replace(
      'Nothing was changed.',
      'It succeeded in a copy: a part of it may be in the database.',
    )
    throw new ServiceError('INVALID', message, { cause: error })
  })
}

/** Reverts the last ones, and returns the names. @throws as `migrateUp` */
export async function migrateDown(file: MigratedFile, count: number): Promise<readonly string[]> {
  const migrations = await migrationsOf(file)
  return change(file, ({ database: copy, app, steps }) => migrations.down(copy, app, count, steps))
}

/** The migrations of a server, and of the project around it. */
export function migrationsOf({ folder, pocketbase }: Pick<MigratedFile, 'folder' | 'pocketbase'>): Promise<Migrations> {
  return Migrations.in(folder, pocketbase && join(pocketbase, 'pb_migrations'))
}

/** Removes copies that a killed process has left. */
export async function cleanCopies(dir: string): Promise<void> {
  for (const name of await readdir(dir))
    if (isUnfinishedCopy(name)) await rm(join(dir, name), { recursive: true, force: true })
}

async function hasPending(database: Database, migrations: Migrations): Promise<boolean> {
  try {
    return (await migrations.pending(database)).length > 0
  } finally {
    await database.close()
  }
}

function openOptions({ encryption, environment }: Keys): OpenOptions {
  return { environment, ...(encryption !== undefined && { encryption }) }
}

type Keys = Pick<MigratedFile, 'encryption' | 'settingsKey' | 'environment' | 'pocketbase'>

async function rehearse(database: Database, migrations: Migrations, keys: Keys): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pannier-migrations-'))
  try {
    const copy = await open(join(folder, 'copy'), {
      from: database.snapshot(),
      ...openOptions(keys),
    })
    try {
      await applyIn(copy, migrations, keys)
    } finally {
      await copy.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function applyIn(
  database: Database,
  migrations: Migrations,
  { settingsKey, pocketbase }: Keys,
  fleet?: Fleet,
): Promise<readonly string[]> {
  const options = { sendsMails: false, ...(settingsKey !== undefined && { settingsKey }), ...(fleet && { fleet }) }
  return withBackend(await openBackend(database, options), async (backend) =>
    migrations.up(database, migrationApp(backend), await pbSteps(backend, pocketbase)),
  )
}

interface Opened {
  readonly database: Database
  readonly app: ReturnType<typeof migrationApp>
  readonly steps: StepsOfFile | undefined
}

/** Runs files of `pb_migrations` on a backend. Their package is loaded where there is a project. */
async function pbSteps(backend: Backend, project: string | undefined): Promise<StepsOfFile | undefined> {
  if (project === undefined) return undefined
  const { pocketBaseSteps } = await import('@pannier/pocketbase')
  return pocketBaseSteps(backend, join(project, 'pb_hooks'))
}

async function change(
  file: MigratedFile,
  work: (opened: Opened) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  let changed: readonly string[] = []
  const { settingsKey, pocketbase } = file
  await changeWhole(file.path, async (copy) => {
    const database = await open(copy, openOptions(file))
    try {
      changed = await withBackend(
        await openBackend(database, { sendsMails: false, ...(settingsKey !== undefined && { settingsKey }) }),
        async (backend) => work({ database, app: migrationApp(backend), steps: await pbSteps(backend, pocketbase) }),
      )
    } finally {
      await database.close()
    }
  })
  return changed
}

async function withBackend<T>(backend: Backend, work: (backend: Backend) => Promise<T>): Promise<T> {
  try {
    return await work(backend)
  } finally {
    await backend.close()
  }
}
