/** A database with definitions, and what writes and reads its records. */
import { GuardChain } from '../../src/gateway/guard-chain.ts'
import { Quota } from '../../src/gateway/quota.ts'
import { open, type Database, type DatabaseStorage } from 'pannier'
import { environmentOf } from 'pannier/internal'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import type { Environment } from 'pannier/types'
import { Access } from '../../src/access/access.ts'
import type { Actor } from '../../src/access/actor.ts'
import { DataKey } from '../../src/access/data-key.ts'
import type { KnownDefinitions } from '../../src/access/rule-records.ts'
import { ShownRevisions } from '../../src/access/shown-revisions.ts'
import { LoginLimiter } from '../../src/accounts/login-limiter.ts'
import { Passwords } from '../../src/accounts/passwords.ts'
import { Definitions } from '../../src/definitions/definitions.ts'
import { recordsName } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import type { HookApp } from '../../src/hooks/hook-app.ts'
import type { HookLog } from '../../src/hooks/hook-log.ts'
import { Hooks } from '../../src/hooks/hooks.ts'
import type { AppServicesParts } from '../../src/records/app-services.ts'
import { recordApp } from '../../src/records/record-app.ts'
import type { UploadedFile } from '../../src/records/record-types.ts'
import { RecordReads } from '../../src/records/record-reads.ts'
import { DEFAULT_SETTINGS } from '../../src/settings/settings-values.ts'
import { RecordWrites } from '../../src/records/record-writes.ts'
import type { WriteViews } from '../../src/records/write/write-views.ts'
import { testModel, type TestModel } from '../test-model.ts'

/** A world has no mails, messages and accounts. */
const NO_SERVICES = {} as AppServicesParts

export interface World {
  readonly environment: VirtualEnvironment
  readonly database: Database
  readonly definitions: Definitions
  readonly access: Access
  readonly views: WriteViews
  readonly reads: RecordReads
  readonly writes: RecordWrites
  readonly hooks: Hooks
  readonly app: HookApp
  readonly passwords: Passwords
  /** The stored documents of a collection, by id. */
  stored(collection: string): Promise<Record<string, JsonObject>>
  close(): Promise<void>
}

export async function openWorld(
  collections: readonly JsonObject[] = [],
  { storage = memory(), log }: { readonly storage?: DatabaseStorage; readonly log?: HookLog } = {},
): Promise<World> {
  const environment = virtualEnvironment()
  const database = await open('records', { storage, environment })
  const model = testModel(database)
  const definitions = await Definitions.open(database, { queries: model.model })
  model.model.follow(definitions)
  for (const collection of collections) await definitions.create(SYSTEM, collection)
  return { ...worldOf(database, definitions, log, model), environment }
}

export function worldOf(
  database: Database,
  definitions: Definitions,
  log?: HookLog,
  { viewReader, views }: Pick<TestModel, 'viewReader' | 'views'> = testModel(database, definitions),
): Omit<World, 'environment'> {
  const environment = environmentOf(database)
  const access = accessOf(definitions, environment)
  const passwords = new Passwords(environment)
  const reads = new RecordReads({ database, environment, definitions, access, viewReader })
  // Content is in the database, as it is without a bucket.
  const files = { store: async () => undefined, adopt: async () => {} }
  const hooks = new Hooks({ environment, ...(log && { log }) })
  const app = recordApp(() => ({
    database,
    environment,
    definitions,
    settings: { values: DEFAULT_SETTINGS },
    hooks,
    services: NO_SERVICES,
    reads,
    writes,
  }))
  const gate = { guards: new GuardChain([], { write: () => {} }), quota: new Quota() }
  const writes: RecordWrites = new RecordWrites({
    database,
    gate,
    environment,
    definitions,
    access,
    views,
    passwords,
    reads,
    files,
    hooks,
    app,
    limiter: new LoginLimiter({}, environment),
  })
  return {
    database,
    definitions,
    access,
    views,
    reads,
    writes,
    hooks,
    app,
    passwords,
    async stored(collection) {
      const rows = await database
        .collection<JsonObject>(recordsName(definitions.get(collection)))
        .find()
        .toArray()
      return Object.fromEntries(rows.map((row) => [row._id, row]))
    },
    close: async () => {
      await definitions.close()
      await database.close()
    },
  }
}

/** Revisions are shown by a key that is always the same. */
export function accessOf(definitions: KnownDefinitions, environment: Pick<Environment, 'wallClock'>): Access {
  return new Access(definitions, new ShownRevisions(new DataKey(new Uint8Array(32))), environment)
}

/** Moves the clock from timer to timer until the work is done. */
export async function done<T>({ environment }: World, work: Promise<T>): Promise<T> {
  let isDone = false
  const end = (): void => void (isDone = true)
  work.then(end, end)
  await environment.until(() => isDone)
  return work
}

export const ADMIN: Actor = actor(SYSTEM)
export const NOBODY: Actor = actor(GUEST)

export function actor(principal: Principal, method = 'POST'): Actor {
  return { principal, request: { context: 'default', method, query: {}, headers: {} } }
}

/** A record that has logged in. */
export function account(collection: string, record: JsonObject): Actor {
  return actor({ name: null, roles: [], isAdmin: false, by: 'token', account: { collection, record } })
}

/** The code, the message and the data of what a write is refused with; undefined: it is not. */
export async function refusal(write: Promise<unknown>): Promise<unknown> {
  try {
    await write
    return undefined
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.data === undefined ? [error.code, error.message] : [error.code, error.message, codesIn(error.data)]
  }
}

/** `{ title: 'validation_required' }` */
function codesIn(data: object): unknown {
  return Object.fromEntries(
    Object.entries(data).map(([name, error]: [string, object]) => [
      name,
      'code' in error ? error.code : codesIn(error),
    ]),
  )
}

export function upload(name: string, content: string | Uint8Array): UploadedFile {
  const blob = new Blob([content as never])
  return { name, size: blob.size, stream: () => blob.stream() }
}
