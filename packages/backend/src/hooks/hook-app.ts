/** What hooks can do with the application, without rules. Their writes run hooks too, but none of requests. */
import type { Definition } from '../definitions/definition.ts'
import type { HookRecord } from './hook-record.ts'

/** Values for the `{:name}` of a filter. */
export type FilterParameters = Readonly<Record<string, string | number | boolean | null | Date>>

/** The application, for hooks. No rule stops it. */
export interface HookApp {
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
}
