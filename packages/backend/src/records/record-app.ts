/** What hooks can do with records: `HookApp`, on the services that others use, as the system. */
import type { Database } from 'pannier'
import type { Actor } from '../access/actor.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { recordsName, type Definition } from '../definitions/definition.ts'
import { dateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { SYSTEM } from '../gateway/principal.ts'
import { invalid, missing } from '../gateway/service-error.ts'
import type { FilterParameters, HookApp } from '../hooks/hook-app.ts'
import { HookRecord } from '../hooks/hook-record.ts'
import type { Settings } from '../settings/settings.ts'
import type { RecordReads } from './record-reads.ts'
import type { RecordTransaction } from './record-transaction.ts'
import type { RecordWrites } from './record-writes.ts'

interface RecordAppParts {
  readonly database: Database
  readonly definitions: Definitions
  readonly settings: Pick<Settings, 'values'>
  readonly reads: Pick<RecordReads, 'select' | 'count'>
  readonly writes: Pick<RecordWrites, 'save' | 'delete' | 'inTransaction'>
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
    return documents.map((document) => HookRecord.of(definition, document))
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
      const record = HookRecord.empty(definitionOf(collection))
      record.load(values)
      return record
    },
    findRecordById: async (collection, id) => {
      const definition = definitionOf(collection)
      const document = await parts().database.collection<JsonObject>(recordsName(definition)).get(id)
      if (document === undefined) throw missing(`'${collection}' has no record '${id}'.`)
      return HookRecord.of(definition, document)
    },
    findFirstRecordByFilter: (collection, filter, parameters) => first(collection, withParameters(filter, parameters)),
    findFirstRecordByData: (collection, field, value) => first(collection, `${field} = ${literal(value)}`),
    findAuthRecordByEmail: (collection, email) => first(collection, `email = ${literal(email)}`),
    findRecordsByFilter: (collection, filter, sort = '', limit = 0, offset = 0, parameters = {}) =>
      find(collection, withParameters(filter, parameters), { sort, offset, ...(limit > 0 && { limit }) }),
    countRecords: (collection, filter = '', parameters = {}) =>
      parts().reads.count(ACTOR, collection, withParameters(filter, parameters)),
    save: (record) => parts().writes.save(ACTOR, record),
    delete: (record) => parts().writes.delete(ACTOR, record.collection().id, record.id),
    runInTransaction: async (run) =>
      parts().writes.inTransaction(ACTOR, (transaction) => run(transactionApp(app, definitionOf, transaction))),
  }
  return app
}

/** `app` inside a transaction, and after its end `app` itself: hooks of its writes may have it longer. */
function transactionApp(
  app: HookApp,
  definitionOf: (name: string) => Definition,
  transaction: RecordTransaction,
): HookApp {
  const inside = <Method extends keyof HookApp>(name: Method, method: HookApp[Method]): HookApp[Method] =>
    ((...parameters: unknown[]) =>
      ((transaction.isOpen ? method : app[name]) as (...all: unknown[]) => unknown)(...parameters)) as HookApp[Method]
  const records = (collection: string): ReturnType<RecordTransaction['records']> =>
    transaction.records(definitionOf(collection))
  const byValue: HookApp['findFirstRecordByData'] = async (collection, field, value) => {
    const [document] = await records(collection)
      .find({ [field === 'id' ? '_id' : field]: value })
      .limit(1)
      .toArray()
    if (document === undefined) throw missing(`No record of '${collection}' has ${field} = ${literal(value)}.`)
    return HookRecord.of(definitionOf(collection), document)
  }
  const unwritten = <Method extends 'findRecordsByFilter' | 'findFirstRecordByFilter' | 'countRecords'>(
    name: Method,
  ): HookApp[Method] =>
    inside(name, ((...parameters: Parameters<HookApp[Method]>) => {
      if (!transaction.hasWritten) return (app[name] as (...all: unknown[]) => unknown)(...parameters)
      const message = `app.${name}(): a transaction that has written can't be searched by a filter. Search before the first write.`
      return Promise.reject(invalid(message))
    }) as unknown as HookApp[Method])
  const made: HookApp = {
    ...app,
    findRecordById: inside('findRecordById', async (collection, id) => {
      const document = await records(collection).get(id)
      if (document === undefined) throw missing(`'${collection}' has no record '${id}'.`)
      return HookRecord.of(definitionOf(collection), document)
    }),
    findFirstRecordByData: inside('findFirstRecordByData', byValue),
    findAuthRecordByEmail: inside('findAuthRecordByEmail', (collection, email) => byValue(collection, 'email', email)),
    findRecordsByFilter: unwritten('findRecordsByFilter'),
    findFirstRecordByFilter: unwritten('findFirstRecordByFilter'),
    countRecords: unwritten('countRecords'),
    save: inside('save', (record) => transaction.save(record, made)),
    delete: inside('delete', (record) => transaction.delete(record, made)),
    runInTransaction: inside('runInTransaction', (run) => run(made)),
  }
  return made
}

/** With each `{:name}` replaced by its value. */
function withParameters(filter: string, parameters: FilterParameters = {}): string {
  return filter.replace(/\{:(\w+)\}/g, (whole, name: string) => {
    const value = parameters[name]
    return value === undefined ? whole : literal(value)
  })
}

/** As the language of filters has it. */
function literal(value: FilterParameters[string]): string {
  if (value instanceof Date) return `'${dateText(value.getTime())}'`
  if (typeof value !== 'string') return String(value)
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
