/** `--storage postgres://…` of the command line. */
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { isPannierError } from 'pannier'
import type { DatabaseStorage } from 'pannier/internal'
import type { PostgresOptions } from '@pannier/postgres'
import { UsageError } from './outcome.ts'
import { printLine, type Terminal } from './terminal.ts'
import { migrationsFolder } from './commands/migrate.ts'

export interface StorageArguments {
  readonly storage?: string
  readonly pooled: boolean
  readonly listenUrl?: string
  readonly migrations?: string
  readonly automigrate: boolean
  readonly https?: readonly string[]
}

const WAIT_MS = 5000

/** Undefined without `--storage`. @throws UsageError */
export async function sharedStorage(
  { storage, pooled, listenUrl, migrations, automigrate, https }: StorageArguments,
  dir: string | undefined,
): Promise<DatabaseStorage | undefined> {
  if (storage === undefined) {
    if (pooled || listenUrl !== undefined) throw new UsageError('--pooled and --listen-url need --storage.')
    return undefined
  }
  if (listenUrl !== undefined && !pooled)
    throw new UsageError('--listen-url is of use with --pooled only: without a pooler leave it out.')
  if (https !== undefined)
    throw new UsageError(
      '--https is for one server. With --storage end TLS before the servers, or give --tls-cert and --tls-key.',
    )
  const folder = migrations ?? (dir === undefined ? undefined : migrationsFolder({ dir }))
  if (automigrate || (folder !== undefined && existsSync(folder) && readdirSync(folder).length > 0))
    throw new UsageError(
      `Migrations are for database files, and ${folder ?? '--automigrate'} asks for some. With --storage change collections by the API.`,
    )
  // Nobody else pays for the driver.
  const { postgres } = await import('@pannier/postgres')
  const options: PostgresOptions = {
    prepare: !pooled,
    notify: !pooled || listenUrl !== undefined,
    ...(listenUrl !== undefined && { listenUrl }),
  }
  try {
    // What is wrong is said at once; later a server waits while PostgreSQL is away.
    await postgres(storage, { ...options, waitMsMax: 0 }).has('app')
    return postgres(storage, options)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`--storage: ${error.message.replace(/^postgres\(\): /, '')}`, { cause: error })
  }
}

/** Tries again while servers of a newer version serve the database. Undefined: the operator has ended it. */
export async function whenUpdated<T>(start: () => Promise<T>, { stderr, signal }: Terminal): Promise<T | undefined> {
  let isSaid = false
  while (!signal.aborted) {
    try {
      return await start()
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_NEWER_FORMAT')) throw error
      if (!isSaid) printLine(stderr, `${error.message} This server waits.`)
      isSaid = true
      await setTimeout(WAIT_MS, undefined, { signal }).catch(() => {})
    }
  }
  return undefined
}
