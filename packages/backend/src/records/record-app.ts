/** Actions of hooks on records: `HookApp`, on the services that others use, as the system. */
import type { Collection, Database } from 'pannier'
import { badArgument } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Actor } from '../access/actor.ts'
import { principalOf, type Holder } from '../accounts/tokens.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { GUEST, SYSTEM } from '../gateway/principal.ts'
import { invalid, missing } from '../gateway/service-error.ts'
import type { FilterParameters, HookApp } from '../hooks/hook-app.ts'
import { asRecord, HookRecord } from '../hooks/hook-record.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { AppServicesParts } from './app-services.ts'
import { appServices } from './app-services.ts'
import type { Settings } from '../settings/settings.ts'
import type { RecordReads } from './record-reads.ts'
import type { RecordWrites } from './record-writes.ts'
import { watchedApp } from '../hooks/watched-app.ts'
import { relatedRecords } from './related-records.ts'
import { literal, transactionApp } from './transaction-app.ts'

interface RecordAppParts {
  readonly database: Database
  readonly environment: Environment
  readonly definitions: Definitions
  readonly settings: Pick<Settings, 'values'>
  readonly reads: Pick<RecordReads, 'select' | 'count' | 'admits'>
  readonly writes: Pick<RecordWrites, 'save' | 'delete' | 'inTransaction'>
  /** Gets errors of calls that nobody awaits. */
  readonly hooks: Pick<Hooks, 'log'>
  readonly services: AppServicesParts
}

const ACTOR: Actor = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }

/** `parts` are asked for when they are needed: records and hooks need each other. */
export function recordApp(parts: () => RecordAppParts): HookApp {
  const definitionOf = (name: string): Definition => {
    const definition = parts().definitions.find(name)
    if (definition === undefined) throw missing(`There is no collection '${name}'.`)
    return definition
  }
  const find = async (
    collection: string,
    filter: string,
    options: { readonly sort?: string; readonly limit?: number; readonly offset?: number } = {},
  ): Promise<HookRecord[]> => {
    const definition = definitionOf(collection)
    const documents = await parts().reads.select(ACTOR, collection, { filter, ...options })
    return documents.map((document) => HookRecord.of(definition, document, parts().environment))
  }
  const first = async (collection: string, filter: string): Promise<HookRecord> => {
    const [record] = await find(collection, filter, { limit: 1 })
    if (record === undefined) throw missing(`No record of '${collection}' meets ${filter}.`)
    return record
  }
  const app: HookApp = {
    settings: () => structuredClone(parts().settings.values),
    findCollectionByNameOrId: definitionOf,
    newRecord: (collection, values = {}) => {
      const record = HookRecord.empty(definitionOf(collection), parts().environment)
      record.load(values)
      return record
    },
    findRecordById: async (collection, id) => {
      const definition = definitionOf(collection)
      const document = await recordsOf(parts(), definition).get(id)
      if (document === undefined) throw missing(`'${collection}' has no record '${id}'.`)
      return HookRecord.of(definition, document, parts().environment)
    },
    findRecordsByIds: async (collection, ids) => {
      const definition = definitionOf(collection)
      return HookRecord.found(definition, await recordsOf(parts(), definition).get(ids), parts().environment)
    },
    findFirstRecordByFilter: (collection, filter, parameters) => first(collection, withParameters(filter, parameters)),
    findFirstRecordByData: (collection, field, value) => first(collection, `${field} = ${literal(value)}`),
    findAuthRecordByEmail: (collection, email) => first(collection, `email = ${literal(email)}`),
    findRecordsByFilter: (collection, filter, sort = '', limit = 0, offset = 0, parameters = {}) =>
      find(collection, withParameters(filter, parameters), { sort, offset, ...(limit > 0 && { limit }) }),
    countRecords: (collection, filter = '', parameters = {}) =>
      parts().reads.count(ACTOR, collection, withParameters(filter, parameters)),
    save: async (record) => parts().writes.save(ACTOR, asRecord('app.save()', record)),
    saveNoValidate: async (record) => parts().writes.save(ACTOR, asRecord('app.saveNoValidate()', record), true),
    delete: async (record) => deleted(parts(), asRecord('app.delete()', record)),
    ...appServices(() => parts().services),
    canAccessRecord: async (record, account, viewRule) => {
      const holder = account && { definition: account.collection(), record: stored(account) }
      const principal = holder === null ? GUEST : principalOf(holder as Holder)
      const definition: Definition = { ...record.collection(), viewRule }
      return parts().reads.admits({ ...ACTOR, principal }, definition, 'view', stored(record))
    },
    expandRecord: (record, paths) =>
      relatedRecords(record, paths, {
        environment: parts().environment,
        definition: definitionOf,
        records: (definition) => recordsOf(parts(), definition),
      }),
    runInTransaction: async (run) =>
      parts().writes.inTransaction(ACTOR, (transaction) => run(transactionApp(shown, transaction))),
  }
  const shown = watchedApp(app, parts)
  return shown
}

function deleted({ writes }: RecordAppParts, record: HookRecord): Promise<void> {
  return writes.delete(ACTOR, record.collection().id, record.id)
}

function recordsOf({ database }: RecordAppParts, definition: Definition): Collection<JsonObject> {
  return database.collection<JsonObject>(recordsName(definition))
}

function stored({ id, document }: HookRecord): JsonObject {
  if (document === undefined) throw badArgument('app.canAccessRecord()', 'a record must be stored', id)
  return document
}

/** With each `{:name}` replaced by its value. */
function withParameters(filter: string, parameters: FilterParameters = {}): string {
  return filter.replace(/\{:(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === undefined) throw invalid(`The filter '${filter}' has ${whole}, and the parameters have no ${name}.`)
    return literal(value)
  })
}
