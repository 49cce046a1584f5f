/** A collection of the signed-in account: reading is the library's, writing waits for the server. */
import type { Collection } from 'pannier'
import type { LocalTransaction, WriteOptions } from './local-transaction.ts'
import type { Replica } from './replica.ts'
import { startWrite, type Write } from './write.ts'
import type { Values } from './writes.ts'

/** What `pannier types` writes of each collection. */
export interface CollectionTypes {
  /** A record as the app reads it. */
  readonly record: object
  /** The values of a new record. */
  readonly create: object
  /** The values of a change, with modifiers. */
  readonly update: object
}

/** What the library's collection reads with. */
export type Reading<T extends object> = Pick<
  Collection<T>,
  'get' | 'find' | 'search' | 'list' | 'info' | 'ready' | 'indexes' | 'view' | 'mapReduce' | 'changes'
>

const READS = ['get', 'find', 'search', 'list', 'info', 'ready', 'indexes', 'view', 'mapReduce', 'changes'] as const

/** The writes of a collection. The first await is for this device, `server` for the server. */
export interface Writing<Types extends CollectionTypes> {
  /**
   * Makes a record, with an id of its own or the one that is given. Fields that the server fills, such as dates, come with the next pull.
   *
   * @throws ClientError EXISTS
   * @example
   * const { id } = await tasks.create({ title: 'Buy milk' })
   */
  create(values: Types['create'] & { readonly id?: string }): Write<Types['record'] & { readonly id: string }>
  /**
   * Changes fields, with PocketBase's modifiers too: `{ 'count+': 1 }`.
   *
   * @throws ClientError NOT_FOUND
   * @example
   * const answer = await tasks.update(id, { done: true }).server
   */
  update(id: string, values: Types['update'], options?: WriteOptions): Write<Types['record']>
  /**
   * @throws ClientError NOT_FOUND
   * @example
   * await tasks.delete(id)
   */
  delete(id: string, options?: WriteOptions): Write<void>
}

/** What `client.collection(name)` returns. */
export type ClientCollection<Types extends CollectionTypes> = Reading<Types['record']> & Writing<Types>

/** The collection of the account that is signed in when it is used. */
export function clientCollection<Types extends CollectionTypes>(
  replica: () => Replica,
  name: string,
): ClientCollection<Types> {
  const reads = READS.map((method) => [
    method,
    (...given: unknown[]): unknown => {
      const collection = replica().db.collection<Record<string, unknown>>(name)
      return (collection[method] as (...values: unknown[]) => unknown)(...given)
    },
  ])
  const writes = {
    create: (values: Values) => startWrite(replica(), (tx) => tx.create(name, values)),
    update: (id: string, values: Values, options?: WriteOptions) =>
      startWrite(replica(), (tx) => tx.update(name, id, values, options)),
    delete: (id: string, options?: WriteOptions) => startWrite(replica(), (tx) => tx.delete(name, id, options)),
  }
  return { ...Object.fromEntries(reads), ...writes } as unknown as ClientCollection<Types>
}

/** A collection inside of `client.transaction`. */
export interface TransactionWriting<Types extends CollectionTypes> extends Pick<
  Reading<Types['record']>,
  'get' | 'find'
> {
  /** As outside. */
  create(values: Types['create'] & { readonly id?: string }): Promise<Types['record'] & { readonly id: string }>
  /** As outside. */
  update(id: string, values: Types['update'], options?: WriteOptions): Promise<Types['record']>
  /** As outside. */
  delete(id: string, options?: WriteOptions): Promise<void>
}

export function transactionCollection<Types extends CollectionTypes>(
  tx: LocalTransaction,
  name: string,
): TransactionWriting<Types> {
  const records = tx.records(name)
  const made = {
    get: records.get.bind(records),
    find: records.find.bind(records),
    create: (values: Values) => tx.create(name, values),
    update: (id: string, values: Values, options?: WriteOptions) => tx.update(name, id, values, options),
    delete: (id: string, options?: WriteOptions) => tx.delete(name, id, options),
  }
  return made as unknown as TransactionWriting<Types>
}
