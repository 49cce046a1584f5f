/** Answers the calls of PocketBase's code, on the actions of the server. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ServiceError, SYSTEM, type Backend, type HookApp, type SqlResult } from '@pannier/backend'
import { HookRecord, missing, presentScaffolds, type JsonObject } from '@pannier/backend/internal'
import type { AnswerMessage, CallMessage, ErrorData } from '../protocol/messages.ts'
import { TAG } from '../protocol/values.ts'
import {
  applyParts,
  applyRecords,
  eventMethods,
  named,
  partsOf,
  type AroundEvent,
  type Methods,
  type ServerEvent,
} from './event-methods.ts'
import { sendHttp, type HttpRequest } from './http.ts'
import { CollectionInput, encodedDefinition, Objects, setAsThere, SettingsInput } from './objects.ts'

/** The application that PocketBase's code reaches. */
export interface Application {
  readonly backend: Backend
  /** Values that handlers share: `$app.store()`. They are in memory. */
  readonly store: Map<string, unknown>
}

/** A transaction that is open while the thread runs a function. */
interface OpenTransaction {
  readonly app: HookApp
  readonly asItsWork: <T>(run: () => T) => T
  end(error?: Error): Promise<void>
}

/** The rows of a query of SQL. */
const ROWS_MAX = 100_000
/** Events after which superusers see all fields. */
const SHOWS = /^on(?:RecordEnrich|RecordViewRequest|RecordsListRequest)$/

const NO_LOGIN = "The request doesn't satisfy the collection requirements to authenticate."
const TWO_METHODS = "the collection asks for two methods. Log in by two requests of the server, or name no method: ''."

/** Events about what a caller gets. */
type AboutCaller = 'onRecordEnrich' | 'onRecordAuthRequest'

class RolledBack extends Error {}

interface GivenMail {
  readonly to: readonly string[]
  readonly from: string
  readonly subject: string
}

/** Makes the error of an answer. */
export type ApiErrorMaker = (status: number, message: string, data: unknown) => Error

/** The work of one task: its objects, its transactions, its event. */
export class Calls {
  readonly objects: Objects = new Objects()
  readonly #application: Application
  readonly #app: HookApp
  readonly #event: Methods
  readonly #isShownToSuperuser: boolean
  readonly #transactions = new Map<string, OpenTransaction>()
  /** Errors of calls of the application. Those of `e.next()` are the server's answer as they are. */
  readonly #ofCalls = new Set<unknown>()

  /** `around`: the event of the handler. Undefined: of no event. */
  constructor(application: Application, around: AroundEvent | undefined) {
    this.#application = application
    this.#app = around?.event.app ?? application.backend.app
    this.#isShownToSuperuser = SHOWS.test(around?.name ?? '') && around?.event.hasSuperuserAuth?.() === true
    this.#event =
      around === undefined ? {} : { ...eventMethods(around), next: this.#next(around), ...this.#apis(around.event) }
  }

  async answer({ target, method, parameters }: CallMessage): Promise<AnswerMessage> {
    try {
      const given = this.objects.decode(parameters) as never[]
      const value = await this.#run(target, method, given)
      return { value: this.objects.encode(value) }
    } catch (error) {
      if (target !== 'event') this.#ofCalls.add(error)
      return { error: this.objects.errorData(error) }
    }
  }

  /** The task has ended: a transaction that is still open is given up. */
  async end(): Promise<void> {
    for (const transaction of this.#transactions.values())
      await transaction.end(new Error('The handler has ended inside a transaction.')).catch(() => {})
  }

  /** The error that the thread has thrown: the server's own again, or one with the place in the user's file. */
  thrown(data: ErrorData, apiError: ApiErrorMaker | undefined): Error {
    const own = this.objects.errorOf(data)
    const { name, message, stack, status } = data
    if (own !== undefined) {
      if (this.#ofCalls.has(own)) Object.assign(own, { stack })
      return apiError !== undefined && this.#ofCalls.has(own) ? asAnswer(own, apiError) : own
    }
    if (status !== undefined && apiError !== undefined)
      return Object.assign(apiError(status, message, data.data), { stack })
    return Object.assign(new Error(message), { name, stack })
  }

  #run(target: string, method: string, given: never[]): unknown {
    if (target === 'event') return named(this.#event, method)(...given)
    if (target === 'http') return sendHttp(given[0] as unknown as HttpRequest, this.#application.backend.environment)
    const [kind, ref] = target.split(':')
    if (kind === 'record') return named(this.#recordMethods(this.objects.record(Number(ref))), method)(...given)
    const transaction = this.#transactions.get(target)
    if (transaction === undefined) return named(this.#appMethods(this.#app), method)(...given)
    if (method === 'commit') return this.#close(target, transaction)
    if (method === 'rollback') return this.#close(target, transaction, new RolledBack())
    return transaction.asItsWork(() => named(this.#appMethods(transaction.app), method)(...given))
  }

  async #close(target: string, transaction: OpenTransaction, error?: Error): Promise<void> {
    this.#transactions.delete(target)
    await transaction.end(error).catch((thrown: unknown) => {
      if (!(thrown instanceof RolledBack)) throw thrown
    })
  }

  /** The transaction stays open until the thread ends it. */
  async #begin(app: HookApp): Promise<string> {
    const target = `transaction:${this.#transactions.size + 1}`
    const begun = Promise.withResolvers<void>()
    const ending = Promise.withResolvers<void>()
    const whole = app.runInTransaction(async (inside) => {
      const asItsWork = AsyncLocalStorage.snapshot() as <T>(run: () => T) => T
      const end = async (error?: Error): Promise<void> => {
        if (error === undefined) ending.resolve()
        else ending.reject(error)
        await whole
      }
      this.#transactions.set(target, { app: inside, asItsWork, end })
      begun.resolve()
      await ending.promise
    })
    whole.catch(begun.reject)
    await begun.promise
    return target
  }

  /** The rest of the chain. Its end is the state of the event after that. */
  #next(around: AroundEvent): (changed: Record<string, unknown>) => Promise<unknown> {
    const next = around.event.next
    return async (changed) => {
      applyParts(around, changed)
      await applyRecords(around)
      await next.call(around.event)
      return partsOf(around, this.objects)
    }
  }

  /** The parts of `$apis` for the caller of an event. */
  #apis(event: ServerEvent): Methods {
    const { app, auth } = event
    const trigger = async (name: AboutCaller, record: HookRecord, others = {}, last?: () => Promise<void>) => {
      const { id, name: collection } = record.collection()
      const info = await event.requestInfo?.()
      const caller = { app, auth, hasSuperuserAuth: () => event.hasSuperuserAuth!(), requestInfo: () => info }
      const about = { ...caller, record, ...others } as never
      await this.#application.backend.hooks.trigger(name, about, [id, collection], last)
    }
    return {
      enrich: (record: HookRecord) => trigger('onRecordEnrich', record),
      recordAuthResponse: async (record: HookRecord, authMethod: string, meta: unknown) => {
        const collection = record.collection()
        if (collection.type !== 'auth') throw new Error('recordAuthResponse(): the record must be an account.')
        if (!(await app.canAccessRecord(record, auth ?? null, collection.authRule)))
          throw new ServiceError('FORBIDDEN', NO_LOGIN)
        if (collection.mfa.enabled && authMethod !== '') throw new Error(`recordAuthResponse(): ${TWO_METHODS}`)
        await trigger('onRecordAuthRequest', record, { collection, authMethod }, async () => {
          const token = await app.newAuthToken(record)
          const answer = { token, record: record.publicExport(), ...(meta !== null && { meta }) }
          ;(event['json'] as (status: number, value: unknown) => void).call(event, 200, answer)
        })
      },
    }
  }

  #recordMethods(record: HookRecord): Methods {
    const { app, environment } = this.#application.backend
    const set = (name: string, value: unknown): HookRecord => {
      setAsThere(record, name, value)
      return record
    }
    return {
      set,
      load: (values: Readonly<Record<string, unknown>>) => {
        for (const [name, value] of Object.entries(values)) setAsThere(record, name, value)
        return record
      },
      setIfFieldExists: (name: string, value: unknown) => {
        const isThere = record.collection().fields.some((field) => field.name === name.replace(/^\+|[+-]$/g, ''))
        if (isThere) set(name, value)
        return isThere
      },
      original: () => record.original(),
      clone: () => {
        const definition = record.collection()
        const { document } = record
        const made = document ? HookRecord.of(definition, document, environment) : app.newRecord(definition.id)
        for (const [name, value] of record.changes) made.set(name, value as never)
        return made
      },
      hide: (...names: string[]) => {
        // Superusers see all fields, whatever a handler hides.
        if (!this.#isShownToSuperuser) record.hide(...names)
      },
      unhide: (...names: string[]) => void record.unhide(...names),
      withCustomData: (isShown: boolean) => void record.withCustomData(isShown),
      publicExport: () => record.publicExport(),
      setRandomPassword: () => {
        const text = Buffer.from(environment.randomBytes(24)).toString('base64url')
        setAsThere(record, 'password', text)
        return text
      },
      validatePassword: (password: string) => app.validatePassword(record, password),
      newAuthToken: () => app.newAuthToken(record),
    }
  }

  #appMethods(app: HookApp): Methods {
    const { backend, store } = this.#application
    return {
      ...this.#finders(app),
      ...this.#writers(app),
      ...this.#statements(app),
      begin: () => this.#begin(app),
      settings: () => ({ [TAG]: 'settings', text: JSON.stringify(app.settings()) }),
      log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, data: object) =>
        app.log(message, { ...data }, level),
      ...storeMethods(store),
      sendMail: async ({ to, from, ...mail }: GivenMail) => {
        const { senderAddress } = app.settings().meta
        if (from !== '' && from !== senderAddress)
          throw new TypeError(
            `send(): message.from must be the sender of the settings (${senderAddress}), got ${from}. Change the settings.`,
          )
        for (const address of to) await app.sendMail({ ...mail, to: address })
      },
      sendMessage: (topic: string, data: object) => app.sendMessage(topic, data),
      sendAccountMail: (kind: 'passwordReset' | 'verification', record: HookRecord) => {
        const { accounts } = backend
        return accounts[kind].request(accounts.authDefinition(record.collection().id), { email: record.get('email') })
      },
      removeJob: (id: string) => backend.schedules.remove(id),
    }
  }

  #finders(app: HookApp): Methods {
    return {
      newRecord: (collection: string) => app.newRecord(collection),
      findRecordById: (collection: string, id: string) => app.findRecordById(collection, id),
      findRecordsByIds: (collection: string, ids: readonly string[]) => app.findRecordsByIds(collection, ids),
      findFirstRecordByData: (collection: string, field: string, value: string) =>
        app.findFirstRecordByData(collection, field, value),
      findFirstRecordByFilter: (collection: string, filter: string, values: object) =>
        app.findFirstRecordByFilter(collection, filter, { ...values }),
      findRecordsByFilter: (
        collection: string,
        filter: string,
        sort: string,
        limit: number,
        offset: number,
        values: object,
      ) => app.findRecordsByFilter(collection, filter, sort, limit, offset, { ...values }),
      countRecords: (collection: string) => app.countRecords(collection),
      findAuthRecordByEmail: (collection: string, email: string) => app.findAuthRecordByEmail(collection, email),
      findAuthRecordByToken: (token: string) => app.findAuthRecordByToken(token),
      related: async (record: HookRecord, name: string) => (await app.expandRecord(record, [name]))[name] ?? [],
      canAccessRecord: (record: HookRecord, account: HookRecord | null, rule: string | null) =>
        app.canAccessRecord(record, account, rule),
      findCollectionByNameOrId: (nameOrId: string) => encodedDefinition(app.findCollectionByNameOrId(nameOrId)),
      findAllCollections: (types: readonly string[]) =>
        this.#application.backend.definitions
          .all()
          .filter(({ type }) => types.length === 0 || types.includes(type))
          .map(encodedDefinition),
    }
  }

  #writers(app: HookApp): Methods {
    const { definitions, settings } = this.#application.backend
    return {
      save: async (model: HookRecord | CollectionInput | SettingsInput, isUnchecked: boolean) => {
        if (model instanceof SettingsInput) return void (await settings.update(SYSTEM, model.values as JsonObject))
        if (model instanceof CollectionInput) return this.#saveCollection(model.values)
        await (isUnchecked ? app.saveNoValidate(model) : app.save(model))
        return model
      },
      delete: async (model: HookRecord | CollectionInput) => {
        if (model instanceof CollectionInput) return definitions.delete(SYSTEM, String(model.values['id']))
        await app.delete(model)
      },
      importCollections: (list: readonly unknown[], deletesMissing: boolean) =>
        definitions.import(SYSTEM, list, deletesMissing),
      truncateCollection: (collection: string) => definitions.truncate(SYSTEM, collection),
    }
  }

  async #saveCollection(values: Readonly<Record<string, unknown>>): Promise<unknown> {
    const { definitions, environment } = this.#application.backend
    const { created: _created, updated: _updated, ...input } = values
    const old = definitions.all().find(({ id }) => id === input['id'])
    const saved =
      old === undefined
        ? definitions.create(SYSTEM, withOwnFields(input, environment))
        : definitions.update(SYSTEM, old.id, input)
    return encodedDefinition(await saved)
  }

  #statements(app: HookApp): Methods {
    const { sql: console } = this.#application.backend
    const run = (sql: string): Promise<SqlResult> => console.run(SYSTEM, sql, { rowsMax: ROWS_MAX + 1, app })
    const query = async (sql: string): Promise<Record<string, unknown>[]> => {
      const { columns, rows } = await run(sql)
      if (rows.length > ROWS_MAX)
        throw new ServiceError('INVALID', `db(): a query must have at most ${ROWS_MAX} rows. Add LIMIT and OFFSET.`)
      return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null])))
    }
    return {
      query,
      firstRow: async (sql: string) => (await query(sql))[0] ?? Promise.reject(missing('sql: no rows in result set')),
      execute: async (sql: string) => (await run(sql)).affectedRows,
    }
  }
}

/** PocketBase's answer to an error of the application that no handler has caught. */
function asAnswer(error: Error, apiError: ApiErrorMaker): Error {
  if (!(error instanceof ServiceError) || 'status' in error) return error
  return Object.assign(apiError(error.code === 'NOT_FOUND' ? 404 : 400, '', error.data), { cause: error })
}

/** A new collection of accounts: fields of the system come first, with what is given of them. */
function withOwnFields(input: JsonObject, chance: Parameters<typeof presentScaffolds>[0]): JsonObject {
  if (input['type'] !== 'auth') return input
  const { auth } = presentScaffolds(chance) as { readonly auth: { readonly fields: readonly JsonObject[] } }
  const given = (input['fields'] ?? []) as readonly JsonObject[]
  const own = auth.fields.map((field) => ({ ...field, ...given.find(({ name }) => name === field['name']) }))
  return { ...input, fields: [...own, ...given.filter(({ name }) => own.every((field) => field['name'] !== name))] }
}

function storeMethods(store: Map<string, unknown>): Methods {
  const methods: Methods = {
    get: (key: string) => store.get(key),
    has: (key: string) => store.has(key),
    set: (key: string, value: unknown) => void store.set(key, value),
    remove: (key: string) => void store.delete(key),
    removeAll: () => store.clear(),
    getAll: () => Object.fromEntries(store),
  }
  return { store: (method: string, ...parameters: never[]) => named(methods, method)(...parameters) }
}
