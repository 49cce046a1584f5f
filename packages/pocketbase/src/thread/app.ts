/** `$app`: each method asks the server, and waits. `target`: `app`, or a transaction. */
import { Collection, Settings } from './collection.ts'
import { type Expression, Query, SelectQuery } from './dbx.ts'
import { MailerMessage } from './mails.ts'
import { call } from './link.ts'
import { Record, textOf } from './record.ts'
import { refusedOfApp } from '../protocol/refusals.ts'

type Values = globalThis.Record<string, unknown>
type Expanded = Record | Record[]

/** A query of records: `$app.recordQuery('posts')`. */
class RecordQuery extends SelectQuery {
  readonly #app: App
  readonly #collection: string

  constructor(app: App, collection: string) {
    super(app.target, [`${collection}.id`])
    this.#app = app
    this.#collection = collection
    this.from(collection)
  }

  override all(list: unknown[]): void {
    list.splice(0, list.length, ...this.records())
  }

  /** `target`: PocketBase's code gives an empty record, which is filled. Here the result is the record. */
  override one(): Record {
    const ids: string[] = []
    this.limit(1).build().column(ids)
    return this.#app.findRecordById(this.#collection, ids[0] ?? '')
  }

  records(): Record[] {
    const ids: string[] = []
    this.build().column(ids)
    return this.#app.findRecordsByIds(this.#collection, ids)
  }
}

export class App {
  readonly target: string

  constructor(target = 'app') {
    this.target = target
    // A name that is not here is refused by name, and not as "is not a function".
    return new Proxy(this, {
      get: (app, name) => {
        if (typeof name === 'symbol' || Reflect.has(app, name) || name === 'toJSON' || name === 'then') {
          const value: unknown = Reflect.get(app, name)
          return typeof value === 'function' ? (value as () => unknown).bind(app) : value
        }
        return () => {
          throw new Error(refusedOfApp(name))
        }
      },
    })
  }

  #call(method: string, ...parameters: readonly unknown[]): unknown {
    return call(this.target, method, ...parameters)
  }

  // Records.

  findRecordById(collection: string | Collection, id: string): Record {
    return this.#call('findRecordById', nameOf(collection), textOf(id)) as Record
  }

  findRecordsByIds(collection: string | Collection, ids: readonly string[]): Record[] {
    return this.#call('findRecordsByIds', nameOf(collection), ids.map(textOf)) as Record[]
  }

  findFirstRecordByData(collection: string | Collection, field: string, value: unknown): Record {
    return this.#call('findFirstRecordByData', nameOf(collection), field, value) as Record
  }

  findFirstRecordByFilter(collection: string | Collection, filter: string, ...parameters: readonly Values[]): Record {
    return this.#call(
      'findFirstRecordByFilter',
      nameOf(collection),
      textOf(filter),
      Object.assign({}, ...parameters),
    ) as Record
  }

  findRecordsByFilter(
    collection: string | Collection,
    filter: string,
    sort = '',
    limit = 0,
    offset = 0,
    ...parameters: readonly Values[]
  ): Record[] {
    const values = Object.assign({}, ...parameters) as Values
    return this.#call(
      'findRecordsByFilter',
      nameOf(collection),
      textOf(filter),
      textOf(sort),
      limit,
      offset,
      values,
    ) as Record[]
  }

  findAllRecords(collection: string | Collection, ...conditions: readonly Expression[]): Record[] {
    if (conditions.length === 0)
      return this.#call('findRecordsByFilter', nameOf(collection), '', '', 0, 0, {}) as Record[]
    return this.#queried(collection, conditions).records()
  }

  countRecords(collection: string | Collection, ...conditions: readonly Expression[]): number {
    if (conditions.length === 0) return this.#call('countRecords', nameOf(collection)) as number
    const counts: unknown[] = []
    this.#queried(collection, conditions).select('count(*)').build().column(counts)
    return Number(counts[0])
  }

  recordQuery(collection: string | Collection): RecordQuery {
    return new RecordQuery(this, nameOf(collection))
  }

  #queried(collection: string | Collection, conditions: readonly Expression[]): RecordQuery {
    const query = this.recordQuery(collection)
    for (const condition of conditions) query.andWhere(condition)
    return query
  }

  findAuthRecordByEmail(collection: string | Collection, email: string): Record {
    return this.#call('findAuthRecordByEmail', nameOf(collection), textOf(email)) as Record
  }

  findAuthRecordByToken(token: string): Record {
    return this.#call('findAuthRecordByToken', textOf(token)) as Record
  }

  /** The paths that lead nowhere, with their errors. */
  expandRecord(record: Record, paths: readonly string[]): Values {
    return this.expandRecords([record], paths)
  }

  /** `isSeen`: whether a record may be added. */
  expandRecords(records: readonly Record[], paths: readonly string[], isSeen?: (record: Record) => boolean): Values {
    const errors: Values = {}
    for (const path of paths)
      try {
        for (const record of records) this.#expand(record, path, isSeen)
      } catch (error) {
        errors[path] = error
      }
    return errors
  }

  #expand(record: Record, path: string, isSeen: (record: Record) => boolean = () => true): void {
    const [name = '', ...rest] = path.split('.')
    const known = record.expandedAll(name)
    const found = known.length > 0 ? known : (this.#call('related', record, name) as Record[]).filter(isSeen)
    if (found.length === 0) return
    const isMany = name.includes('_via_') || record.collection().fields.getByName(name)?.isMultiple() === true
    const expanded: Expanded = isMany ? found : found[0]!
    record.mergeExpand({ [name]: expanded })
    if (rest.length > 0) for (const one of found) this.#expand(one, rest.join('.'), isSeen)
  }

  canAccessRecord(record: Record, info: { readonly auth?: Record | null }, rule: string | null): boolean {
    return this.#call('canAccessRecord', record, info.auth ?? null, rule) as boolean
  }

  // Collections.

  findCollectionByNameOrId(nameOrId: string): Collection {
    return this.#call('findCollectionByNameOrId', nameOrId) as Collection
  }

  findCachedCollectionByNameOrId(nameOrId: string): Collection {
    return this.findCollectionByNameOrId(nameOrId)
  }

  findAllCollections(...types: readonly string[]): Collection[] {
    return this.#call('findAllCollections', types) as Collection[]
  }

  hasTable(name: string): boolean {
    return this.findAllCollections().some((one) => one.name.toLowerCase() === name.toLowerCase())
  }

  tableColumns(name: string): string[] {
    return this.findCollectionByNameOrId(name).fields.fieldNames()
  }

  isCollectionNameUnique(name: string, ...without: readonly string[]): boolean {
    const isSame = (one: Collection): boolean => one.name.toLowerCase() === name.toLowerCase()
    return !this.findAllCollections().some((one) => isSame(one) && !without.includes(one.id))
  }

  importCollections(list: readonly unknown[], deletesMissing = false): void {
    this.#call('importCollections', JSON.parse(JSON.stringify(list)), deletesMissing)
  }

  importCollectionsByMarshaledJSON(text: unknown, deletesMissing = false): void {
    this.#call('importCollections', JSON.parse(String(text)), deletesMissing)
  }

  truncateCollection(collection: Collection): void {
    this.#call('truncateCollection', collection.id)
  }

  // Writes.

  save(model: Record | Collection | Settings): void {
    this.#save(model, false)
  }

  #save(model: Record | Collection | Settings, isUnchecked: boolean): void {
    if (!(model instanceof Record || model instanceof Collection || model instanceof Settings))
      throw new TypeError(`save(): model must be a Record, a Collection or settings, got ${typeof model}`)
    const saved = this.#call('save', model, isUnchecked)
    // The server has completed it: ids, fields of the system.
    if (model instanceof Collection) model.merge(JSON.parse(JSON.stringify(saved)) as Values)
  }

  saveNoValidate(model: Record | Collection | Settings): void {
    this.#save(model, true)
  }

  delete(model: Record | Collection): void {
    this.#call('delete', model)
  }

  runInTransaction(run: (app: App) => unknown): void {
    const target = this.#call('begin') as string
    try {
      const result = run(new App(target))
      if (result instanceof Error) throw result
    } catch (error) {
      call(target, 'rollback')
      throw error
    }
    call(target, 'commit')
  }

  isTransactional(): boolean {
    return this.target !== 'app'
  }

  db(): Database {
    return {
      newQuery: (sql) => new Query(this.target, sql),
      select: (...columns) => new SelectQuery(this.target, columns),
    }
  }

  nonconcurrentDB(): Database {
    return this.db()
  }

  concurrentDB(): Database {
    return this.db()
  }

  // The application.

  settings(): Settings {
    return this.#call('settings') as Settings
  }

  logger(): Logger {
    return loggerWith((level, message, data) => this.#call('log', level, message, data), [])
  }

  store(): Store {
    const ask = (method: string, ...parameters: readonly unknown[]): unknown =>
      this.#call('store', method, ...parameters)
    const get = (key: string): unknown => ask('get', key) ?? null
    return {
      get,
      has: (key) => ask('has', key) as boolean,
      set: (key, value) => void ask('set', key, value),
      remove: (key) => void ask('remove', key),
      removeAll: () => void ask('removeAll'),
      getAll: () => ask('getAll') as Values,
      length: () => Object.keys(ask('getAll') as Values).length,
      getOrSet: (key, make) => {
        if (!(ask('has', key) as boolean)) ask('set', key, make())
        return get(key)
      },
    }
  }

  /** `message`: a `MailerMessage`, or its values. */
  newMailClient(): { send(message: Partial<MailerMessage>): void } {
    return { send: (message) => void this.#call('sendMail', new MailerMessage(message).plain()) }
  }

  /** One client that stands for all: what it is sent goes to all who have subscribed to the topic. */
  subscriptionsBroker(): { clients(): globalThis.Record<string, BrokerClient> } {
    const send = ({ name, data }: { readonly name: string; readonly data: unknown }): void =>
      void this.#call('sendMessage', name, JSON.parse(typeof data === 'string' ? data : String(data)))
    return { clients: () => ({ all: { hasSubscription: () => true, send } }) }
  }

  cron(): { add(id: string, expression: string, run: () => unknown): void; remove(id: string): void } {
    const scope = globalThis as unknown as globalThis.Record<'cronAdd' | 'cronRemove', (...all: unknown[]) => void>
    return { add: (...all) => scope.cronAdd(...all), remove: (id) => scope.cronRemove(id) }
  }

  isDev(): boolean {
    return false
  }
}

interface BrokerClient {
  hasSubscription(topic: string): boolean
  send(message: { readonly name: string; readonly data: unknown }): void
}

interface Database {
  newQuery(sql: string): Query
  select(...columns: readonly string[]): SelectQuery
}

interface Store {
  get(key: string): unknown
  has(key: string): boolean
  set(key: string, value: unknown): void
  remove(key: string): void
  removeAll(): void
  getAll(): Values
  length(): number
  getOrSet(key: string, make: () => unknown): unknown
}

type Log = (message: string, ...pairs: readonly unknown[]) => void

interface Logger extends Readonly<globalThis.Record<'debug' | 'info' | 'warn' | 'error', Log>> {
  with(...pairs: readonly unknown[]): Logger
  withGroup(name: string): Logger
}

function loggerWith(write: (level: string, message: string, data: Values) => void, known: readonly unknown[]): Logger {
  const at =
    (level: string): Log =>
    (message, ...pairs) =>
      write(level, message, dataOfPairs([...known, ...pairs]))
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (...pairs) => loggerWith(write, [...known, ...pairs]),
    withGroup: () => loggerWith(write, known),
  }
}

/** Names and values in turn. */
function dataOfPairs(pairs: readonly unknown[]): Values {
  const data: Values = {}
  for (let at = 0; at < pairs.length; at += 2) {
    const value = pairs[at + 1]
    data[String(pairs[at])] = value instanceof Error ? value.message : (value ?? null)
  }
  return data
}

function nameOf(collection: string | Collection): string {
  if (typeof collection === 'string') return collection
  return collection.id === '' ? collection.name : collection.id
}
