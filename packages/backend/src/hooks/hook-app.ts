/** What hooks can do with the application, without rules. Their writes run hooks too, but none of requests. */
import type { Definition } from '../definitions/definition.ts'
import type { SettingsValues } from '../settings/settings-values.ts'
import type { HookRecord } from './hook-record.ts'

/** Values for the `{:name}` of a filter. */
export type FilterParameters = Readonly<Record<string, string | number | boolean | null | Date>>

/** The application, for hooks. No rule stops it. */
export interface HookApp {
  /** What superusers have set, with the secrets. */
  settings(): SettingsValues
  /** @throws ServiceError NOT_FOUND */
  findCollectionByNameOrId(nameOrId: string): Definition
  /** A record that is not stored yet: `save` stores it. */
  newRecord(collection: string, values?: Readonly<Record<string, unknown>>): HookRecord
  /** @throws ServiceError NOT_FOUND */
  findRecordById(collection: string, id: string): Promise<HookRecord>
  /** @throws ServiceError NOT_FOUND; INVALID for a wrong filter */
  findFirstRecordByFilter(collection: string, filter: string, parameters?: FilterParameters): Promise<HookRecord>
  /** @throws ServiceError NOT_FOUND */
  findFirstRecordByData(collection: string, field: string, value: string | number | boolean): Promise<HookRecord>
  /** @throws ServiceError NOT_FOUND */
  findAuthRecordByEmail(collection: string, email: string): Promise<HookRecord>
  /**
   * `sort` as in a request: `-created,title`. `limit` 0: all.
   *
   * @throws ServiceError INVALID for a wrong filter or sort
   */
  findRecordsByFilter(
    collection: string,
    filter: string,
    sort?: string,
    limit?: number,
    offset?: number,
    parameters?: FilterParameters,
  ): Promise<HookRecord[]>
  /** How many records meet a filter; all when it is left out. */
  countRecords(collection: string, filter?: string, parameters?: FilterParameters): Promise<number>
  /** Validates and stores a record. @throws ServiceError INVALID with data */
  save(record: HookRecord): Promise<void>
  /** @throws ServiceError NOT_FOUND; INVALID if another record needs it */
  delete(record: HookRecord): Promise<void>
  /**
   * Runs a function that writes all or nothing. Nobody else writes meanwhile, so it must not wait for others; after 10 seconds it is
   * given up. Use `app` of the function inside it: what it reads has what it has written. After the first write it finds records by
   * their ids or by a value, and not by a filter. The hooks of its writes end when all is stored.
   *
   * @throws what the function throws: then nothing is written
   * @example
   * await e.app.runInTransaction(async (app) => {
   *   const account = await app.findRecordById('accounts', id)
   *   account.set('balance-', 10)
   *   await app.save(account)
   *   await app.save(app.newRecord('payments', { account: id, amount: 10 }))
   * })
   */
  runInTransaction<T>(run: (app: HookApp) => Promise<T>): Promise<T>
}
