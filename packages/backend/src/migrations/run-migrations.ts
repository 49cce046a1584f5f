/** Applies and reverts migrations. What has run before an error stays in the database that they ran in: give them one of their own. */
import type { Database } from 'pannier'
import { errorText } from '../gateway/log-entry.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { MigrationApp } from './migration-app.ts'
import { MigrationHistory } from './migration-history.ts'

/** A step of a migration. */
type MigrationStep = (app: MigrationApp) => unknown

/** A file of a folder of migrations. */
export interface MigrationFile {
  /** `1790000000_created_posts.ts`. Files are applied in the order of their names. */
  readonly name: string
  /** @throws whatever the module throws */
  load(): Promise<{ readonly up?: MigrationStep; readonly down?: MigrationStep }>
}

/** Migrations that have not been applied. */
export async function pendingMigrations(
  database: Database,
  files: readonly MigrationFile[],
): Promise<readonly MigrationFile[]> {
  const applied = await new MigrationHistory(database).applied()
  return files.filter(({ name }) => !applied.includes(name))
}

/** The last `count` that were applied, the newest first. Those without a file are ignored. */
export async function lastMigrations(
  database: Database,
  files: readonly MigrationFile[],
  count: number,
): Promise<readonly MigrationFile[]> {
  const applied = await new MigrationHistory(database).applied()
  const known = applied.toReversed().flatMap((name) => files.find((file) => file.name === name) ?? [])
  return known.slice(0, count)
}

/** @throws ServiceError INVALID that names the file */
export async function applyMigrations(
  database: Database,
  app: MigrationApp,
  files: readonly MigrationFile[],
): Promise<void> {
  const history = new MigrationHistory(database)
  for (const file of files) {
    await run(file, 'up', app)
    await history.replace([...(await history.applied()), file.name])
  }
}

/** @throws ServiceError INVALID that names the file */
export async function revertMigrations(
  database: Database,
  app: MigrationApp,
  files: readonly MigrationFile[],
): Promise<void> {
  const history = new MigrationHistory(database)
  for (const file of files) {
    await run(file, 'down', app)
    await history.replace((await history.applied()).filter((name) => name !== file.name))
  }
}

/** Forgets applied migrations that have no file, and returns their names. */
export async function forgetMissing(database: Database, files: readonly MigrationFile[]): Promise<readonly string[]> {
  const history = new MigrationHistory(database)
  const applied = await history.applied()
  const isThere = (name: string): boolean => files.some((file) => file.name === name)
  await history.replace(applied.filter(isThere))
  return applied.filter((name) => !isThere(name))
}

async function run({ name, load }: MigrationFile, step: 'up' | 'down', app: MigrationApp): Promise<void> {
  try {
    await (await load())[step]?.(app)
  } catch (error) {
    const data = error instanceof ServiceError && error.data !== undefined ? ` ${JSON.stringify(error.data)}` : ''
    const what = step === 'up' ? 'applied' : 'reverted'
    const message = `The migration ${name} can't be ${what}: ${errorText(error)}${data} Nothing was changed.`
    throw new ServiceError('INVALID', message, { cause: error })
  }
}
