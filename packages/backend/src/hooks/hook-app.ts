/** Actions of hooks on the application, without rules. Their writes run hooks too, but none of requests. */
import type { Definition } from '../definitions/definition.ts'
import type { SettingsValues } from '../settings/settings-values.ts'
import type { AnyRecordTypes, HookRecord, RecordTypes } from './hook-record.ts'

/** Values for the `{:name}` of a filter. */
export type FilterParameters = Readonly<Record<string, string | number | boolean | null | Date>>

/** The types of the records of all collections, by name. */
export type CollectionTypes = Readonly<Record<string, RecordTypes>>

/** The types of collections whose fields are not known (any). */
export type AnyCollectionTypes = Readonly<Record<string, AnyRecordTypes>>

/** A mail of a hook. One of `html` and `text` is enough. */
export interface HookMail {
  /** An address. */
  readonly to: string
  /** The subject in one line. */
  readonly subject: string
  /** Derived from the text when it is left out. */
  readonly html?: string
  /** The text for readers without HTML. */
  readonly text?: string
}

type NameOf<All> = keyof All & string

/** The application, for hooks. No rule stops it. `All`: the types of its collections. */
export interface HookApp<All extends CollectionTypes = AnyCollectionTypes> {
  /** The settings of superusers, with the secrets. */
  settings(): SettingsValues
  /** @throws ServiceError NOT_FOUND */
  findCollectionByNameOrId(nameOrId: string): Definition
  /** A record that is not stored yet: `save` stores it. */
  newRecord<Name extends NameOf<All>>(
    collection: Name,
    values?: Readonly<Partial<All[Name]['changes']>>,
  ): HookRecord<All[Name]>
  /** @throws ServiceError NOT_FOUND */
  findRecordById<Name extends NameOf<All>>(collection: Name, id: string): Promise<HookRecord<All[Name]>>
  /** The records with these ids in their order, without those that are not there. @throws ServiceError NOT_FOUND: no such collection */
  findRecordsByIds<Name extends NameOf<All>>(collection: Name, ids: readonly string[]): Promise<HookRecord<All[Name]>[]>
  /** @throws ServiceError NOT_FOUND; INVALID for a wrong filter */
  findFirstRecordByFilter<Name extends NameOf<All>>(
    collection: Name,
    filter: string,
    parameters?: FilterParameters,
  ): Promise<HookRecord<All[Name]>>
  /** @throws ServiceError NOT_FOUND */
  findFirstRecordByData<Name extends NameOf<All>>(
    collection: Name,
    field: keyof All[Name]['values'] & string,
    value: string | number | boolean,
  ): Promise<HookRecord<All[Name]>>
  /** @throws ServiceError NOT_FOUND */
  findAuthRecordByEmail<Name extends NameOf<All>>(collection: Name, email: string): Promise<HookRecord<All[Name]>>
  /**
   * `sort` as in a request: `-created,title`. `limit` 0: all.
   *
   * @throws ServiceError INVALID for a wrong filter or sort
   */
  findRecordsByFilter<Name extends NameOf<All>>(
    collection: Name,
    filter: string,
    sort?: string,
    limit?: number,
    offset?: number,
    parameters?: FilterParameters,
  ): Promise<HookRecord<All[Name]>[]>
  /** How many records meet a filter; all when it is left out. */
  countRecords(collection: NameOf<All>, filter?: string, parameters?: FilterParameters): Promise<number>
  /** Validates and stores a record. @throws ServiceError INVALID with data */
  save(record: HookRecord): Promise<void>
  /** Stores a record, also with values that its fields refuse, and without `onRecordValidate`. Unique values and ids are checked. */
  saveNoValidate(record: HookRecord): Promise<void>
  /** @throws ServiceError NOT_FOUND; INVALID if another record needs it */
  delete(record: HookRecord): Promise<void>
  /** Puts a mail on its way, by the mail server of the settings. It is stored first, and tried again for two days. @throws TypeError */
  sendMail(mail: HookMail): Promise<void>
  /** Sends a message of realtime to all clients that have subscribed to the topic. */
  sendMessage(topic: string, data: object): void
  /** Writes a line into the logs of the application. `data`: JSON without secrets. */
  log(message: string, data?: Readonly<Record<string, unknown>>, level?: 'debug' | 'info' | 'warn' | 'error'): void
  /** A token of an account, as a login would give: without its password, and without a second factor. @throws ServiceError NOT_FOUND */
  newAuthToken(record: HookRecord): Promise<string>
  /** The account that a token is for. @throws ServiceError NOT_FOUND for one that is not valid */
  findAuthRecordByToken(token: string): Promise<HookRecord>
  /**
   * The records that paths of relations lead to, by path: as they are stored, whatever rules say. At most 1,000 by each step.
   *
   * @throws ServiceError INVALID for a path that leads nowhere
   * @example
   * import type { Hooks } from '@pannier/server'
   *
   * export default ({ onRecordAfterCreateSuccess }: Hooks): void =>
   *   onRecordAfterCreateSuccess(async (e) => {
   *     const { 'post.author': authors } = await e.app.expandRecord(e.record, ['post.author'])
   *     for (const author of authors!) e.app.log(`${author.get('email')} has a comment`)
   *     await e.next()
   *   }, 'comments')
   */
  expandRecord(record: HookRecord, paths: readonly string[]): Promise<Readonly<Record<string, readonly HookRecord[]>>>
  /**
   * Whether a rule admits an account to a record as it is stored, as `e.collection.updateRule`. Null instead of an account: a guest;
   * instead of a rule: superusers only. A wrong rule admits nobody. What a request has sent is not known.
   */
  canAccessRecord(record: HookRecord, account: HookRecord | null, rule: string | null): Promise<boolean>
  /** Whether it is the password of the account, as it is stored. */
  validatePassword(record: HookRecord, password: string): Promise<boolean>
  /**
   * Runs a function that writes all or nothing. Nobody else writes meanwhile, so it must not wait for others; after 10 seconds it is
   * given up. Use `app` of the function inside it: what it reads has what it has written. After the first write it finds records by
   * their ids or by a value, and not by a filter. The hooks of its writes end when all is stored.
   *
   * @throws what the function throws: then nothing is written
   * @example
   * import type { HookApp } from '@pannier/server'
   *
   * const pay = (app: HookApp, id: string): Promise<void> =>
   *   app.runInTransaction(async (inside) => {
   *     const account = await inside.findRecordById('accounts', id)
   *     account.set('balance-', 10)
   *     await inside.save(account)
   *     await inside.save(inside.newRecord('payments', { account: id, amount: 10 }))
   *   })
   */
  runInTransaction<T>(run: (app: HookApp<All>) => Promise<T>): Promise<T>
}
