/** `--storage postgres://…` of the command line. */
import { isPannierError } from 'pannier'
import { pause } from 'pannier/internal'
import type { DatabaseStorage } from 'pannier/storage'
import type { PostgresOptions, PostgresStorage } from '@pannier/postgres'
import { UsageError } from './outcome.ts'
import { printLine, type Terminal } from './terminal.ts'

export interface StorageArguments {
  readonly storage?: readonly string[]
  readonly pooled: boolean
  readonly listenUrl?: readonly string[]
  readonly https?: readonly string[]
}

const WAIT_MS = 5000
/** Long enough for connections that break at the start, and short for a person who has typed a wrong host. */
const START_WAIT_MS_MAX = 2000

/** Undefined without `--storage`. @throws UsageError */
export async function sharedStorage({
  storage,
  pooled,
  listenUrl,
  https,
}: StorageArguments): Promise<DatabaseStorage | undefined> {
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
  return postgresAt(storage, {
    prepare: !pooled,
    notify: !pooled || listenUrl !== undefined,
    ...(listenUrl !== undefined && { listenUrl }),
  })
}

/** @throws UsageError for what is no URL, and what is wrong with the first PostgreSQL */
export async function postgresAt(urls: readonly string[], options: PostgresOptions): Promise<PostgresStorage> {
  // Nobody else pays for the driver.
  const { postgres } = await import('@pannier/postgres')
  try {
    // What is wrong is said soon; later a server waits while PostgreSQL is away.
    await postgres(urls, { ...options, waitMsMax: START_WAIT_MS_MAX }).has('app')
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(`--storage: ${error.message.replace(/^postgres\(\): /, '')}`, { cause: error })
    // A server waits until it is updated.
    if (!isPannierError(error, 'PANNIER_FORMAT_NEWER')) throw error
  }
  return postgres(urls, options)
}

/** Tries again while servers of a newer version serve the database. Undefined: the operator has ended it. */
export async function whenUpdated<T>(start: () => Promise<T>, terminal: Terminal): Promise<T | undefined> {
  const { stderr, signal, environment } = terminal
  let isSaid = false
  while (!signal.aborted) {
    try {
      return await start()
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_FORMAT_NEWER')) throw error
      if (!isSaid) printLine(stderr, `${error.message} This server waits.`)
      isSaid = true
      await pause(environment, WAIT_MS, signal)
    }
  }
  return undefined
}
