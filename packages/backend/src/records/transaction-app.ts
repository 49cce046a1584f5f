/** Actions of hooks inside a transaction. */
import { badArgument } from 'pannier/internal'
import type { Definition } from '../definitions/definition.ts'
import { dateText } from '../fields/date-text.ts'
import { invalid, missing } from '../gateway/service-error.ts'
import type { FilterParameters, HookApp } from '../hooks/hook-app.ts'
import { asRecord, HookRecord } from '../hooks/hook-record.ts'
import { unwatched } from '../hooks/watched-app.ts'
import { relatedRecords } from './related-records.ts'
import type { RecordTransaction } from './record-transaction.ts'

const transactions = new WeakMap<HookApp, RecordTransaction>()

/** The transaction that an application is inside of, while it is open. */
export function transactionOf(app: HookApp): RecordTransaction | undefined {
  const transaction = transactions.get(app)
  return transaction?.isOpen === true ? transaction : undefined
}

/** `app` inside a transaction, and after its end `app` itself: hooks of its writes may have it longer. */
export function transactionApp(given: HookApp, transaction: RecordTransaction): HookApp {
  const { app, watch } = unwatched(given)
  const definitionOf = (name: string): Definition => app.findCollectionByNameOrId(name)
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
    return HookRecord.of(definitionOf(collection), document, transaction.environment)
  }
  const unwritten = <
    Method extends 'findRecordsByFilter' | 'findFirstRecordByFilter' | 'countRecords' | 'canAccessRecord',
  >(
    name: Method,
  ): HookApp[Method] =>
    inside(name, ((...parameters: Parameters<HookApp[Method]>) => {
      if (!transaction.hasWritten) return (app[name] as (...all: unknown[]) => unknown)(...parameters)
      const message = `app.${name}(): a transaction that has written can't be searched by a filter. Search before the first write.`
      return Promise.reject(invalid(message))
    }) as unknown as HookApp[Method])
  const outside = (name: string) => (): Promise<never> =>
    Promise.reject(invalid(`app.${name}(): must be called before the transaction, or after it: it writes by itself.`))
  const made: HookApp = {
    ...app,
    findRecordById: inside('findRecordById', async (collection, id) => {
      const document = await records(collection).get(id)
      if (document === undefined) throw missing(`'${collection}' has no record '${id}'.`)
      return HookRecord.of(definitionOf(collection), document, transaction.environment)
    }),
    findRecordsByIds: inside('findRecordsByIds', async (collection, ids) =>
      HookRecord.found(definitionOf(collection), await records(collection).get(ids), transaction.environment),
    ),
    findFirstRecordByData: inside('findFirstRecordByData', byValue),
    findAuthRecordByEmail: inside('findAuthRecordByEmail', (collection, email) => byValue(collection, 'email', email)),
    findRecordsByFilter: unwritten('findRecordsByFilter'),
    findFirstRecordByFilter: unwritten('findFirstRecordByFilter'),
    countRecords: unwritten('countRecords'),
    canAccessRecord: unwritten('canAccessRecord'),
    expandRecord: inside('expandRecord', (record, paths) =>
      relatedRecords(record, paths, {
        environment: transaction.environment,
        definition: definitionOf,
        records: (definition) => transaction.records(definition),
      }),
    ),
    save: inside('save', async (record) => transaction.save(asRecord('app.save()', record), shown)),
    saveNoValidate: inside('saveNoValidate', async (record) =>
      transaction.save(asRecord('app.saveNoValidate()', record), shown, true),
    ),
    delete: inside('delete', async (record) => transaction.delete(asRecord('app.delete()', record), shown)),
    sendMail: inside('sendMail', outside('sendMail')),
    newAuthToken: inside('newAuthToken', outside('newAuthToken')),
    runInTransaction: inside('runInTransaction', (run) => run(shown)),
  }
  const shown = watch(made)
  transactions.set(shown, transaction)
  return shown
}

/** As the language of filters has it. */
export function literal(value: FilterParameters[string]): string {
  if (value instanceof Date && Number.isFinite(value.getTime())) return `'${dateText(value.getTime())}'`
  const isNumber = typeof value === 'number' && Number.isFinite(value)
  if (isNumber || typeof value === 'boolean' || value === null) return String(value)
  if (typeof value !== 'string')
    throw badArgument('app', 'a value of a filter must be a text, a finite number, a boolean, null or a Date', value)
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
