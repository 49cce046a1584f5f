/** A collection of the signed-in account: reading is the library's, writing waits for the server. */
import type { Collection } from 'pannier'
import { badArgument } from 'pannier/internal'
import type { Question } from './can.ts'
import { closed } from './client-error.ts'
import type { LocalTransaction, WriteOptions } from './local-transaction.ts'
import type { Replica } from './replica.ts'
import { startWrite, type Write } from './write.ts'
import { checkId, type Values } from './writes.ts'

/** The types that `pannier types --client` writes of each collection. */
export interface CollectionTypes {
  /** A record as the app reads it. */
  readonly record: object
  /** The values of a new record. */
  readonly create: object
  /** The values of a change, with modifiers. */
  readonly update: object
}

/** The methods of the library's collection that read. */
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
   * @throws ClientError PANNIER_CONFLICT
   * @example
   * const { id } = await tasks.create({ title: 'Buy milk' })
   */
  create(values: Types['create'] & { readonly id?: string }): Write<Types['record'] & { readonly id: string }>
  /**
   * Changes fields, with PocketBase's modifiers too: `{ 'count+': 1 }`.
   *
   * @throws ClientError PANNIER_NOT_FOUND
   * @example
   * const answer = await tasks.update(id, { done: true }).server
   */
  update(id: string, values: Types['update'], options?: WriteOptions): Write<Types['record']>
  /**
   * @throws ClientError PANNIER_NOT_FOUND
   * @example
   * await tasks.delete(id)
   */
  delete(id: string, options?: WriteOptions): Write<void>
}

/** Asking for the server's answer to a write. */
export interface Asking<Types extends CollectionTypes> {
  /**
   * Whether the rules admit a new record with these values, by what is on this device. Undefined: that can't be known here. Fields
   * and hooks of the server may still refuse a write that is admitted.
   *
   * @example
   * button.hidden = (await tasks.can('create', { title: '', project })) === false
   */
  can(action: 'create', values: Types['create'] & { readonly id?: string }): Promise<boolean | undefined>
  /** Answers for a change. Without `values`: of any change. A record that is not on this device has no answer. */
  can(action: 'update', record: RecordName, values?: Types['update']): Promise<boolean | undefined>
  /** Answers for a deletion. */
  can(action: 'delete', record: RecordName): Promise<boolean | undefined>
}

/** A record, or its id. */
export type RecordName = string | { readonly id: string }

/** The collection that `client.collection(name)` returns. */
export type ClientCollection<Types extends CollectionTypes> = Reading<Types['record']> & Writing<Types> & Asking<Types>

/** The collection of the account that is signed in when it is used. */
export function clientCollection<Types extends CollectionTypes>(
  { open, read, write }: Readonly<Record<'open' | 'read' | 'write', () => Replica>>,
  name: string,
): ClientCollection<Types> {
  const reads = READS.map((method) => [
    method,
    (...given: unknown[]): unknown => {
      const replica = read()
      const collection = replica.records(name)
      const result = (collection[method] as (...values: unknown[]) => unknown)(...given.map(unwrapped))
      return replica.isClosed ? ofClosed(result) : result
    },
  ])
  const others = {
    can: (action: Question['action'], subject: RecordName | Values, values?: Values) =>
      open().can(questionOf(action, name, subject, values)),
    create: (values: Values) => startWrite(write(), (tx) => tx.create(name, values)),
    update: (id: string, values: Values, options?: WriteOptions) =>
      startWrite(write(), (tx) => tx.update(name, id, values, options)),
    delete: (id: string, options?: WriteOptions) => startWrite(write(), (tx) => tx.delete(name, id, options)),
  }
  return { ...Object.fromEntries(reads), ...others } as unknown as ClientCollection<Types>
}

/** @throws TypeError */
export function questionOf(
  action: Question['action'],
  collection: string,
  subject: RecordName | Values,
  values?: Values,
): Question {
  if (action === 'create') return { action, collection, values: subject as Values }
  const id = typeof subject === 'string' ? subject : subject['id']
  if (action !== 'update' && action !== 'delete')
    throw badArgument('can()', 'the action must be "create", "update" or "delete"', action)
  checkId('can', id)
  return { action, collection, id, values }
}

/** A collection inside of `client.transaction`. */
export interface TransactionWriting<Types extends CollectionTypes> extends Pick<
  Reading<Types['record']>,
  'get' | 'find'
> {
  /** Creates a record, as outside. */
  create(values: Types['create'] & { readonly id?: string }): Promise<Types['record'] & { readonly id: string }>
  /** Updates a record, as outside. */
  update(id: string, values: Types['update'], options?: WriteOptions): Promise<Types['record']>
  /** Deletes a record, as outside. */
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

/** Questions by the value that stands for each in answers of a closed client. */
const asked = new WeakMap<object, object>()

function unwrapped(value: unknown): unknown {
  return (typeof value === 'object' && value !== null && asked.get(value)) || value
}

/** A result of a closed client: a page may still make a query and show no rows; who awaits something hears CLOSED. */
function ofClosed(result: unknown): unknown {
  if (result instanceof Promise)
    return result.catch(() => {
      throw closed()
    })
  if (typeof result !== 'object' || result === null || 'subscribe' in result) return result
  const made = new Proxy(result, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => ofClosed(Reflect.apply(value, target, given.map(unwrapped)))
    },
  })
  asked.set(made, result)
  return made
}
