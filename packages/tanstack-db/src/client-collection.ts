/** Options for a collection of TanStack DB that shows a collection of a client. */
import type { AppTypes, Client, CollectionTypes, ServerAnswer, UntypedCollections, Write } from '@pannier/client'
import { badArgument } from 'pannier/internal'
import { optionsOf, type CollectionSettings, type PannierOptions, type PannierUtils } from './database-collection.ts'
import { store, type Mutating, type Place } from './sync-run.ts'

/** The names of fields that a new record needs. */
type NeededField<Create> = {
  [Name in keyof Create]-?: object extends Pick<Create, Name> ? never : Name
}[keyof Create]

/** A record as a row of TanStack DB. A row that the app inserts has an id, and the server fills fields later. */
export type RecordRow<Types extends CollectionTypes> = Partial<Types['record']> &
  Pick<Types['record'], NeededField<Types['create']> & keyof Types['record']> & { readonly id: string }

/** Options of `pannierClientCollectionOptions`. */
export interface PannierClientCollectionConfig<
  Types extends AppTypes<Types>,
  Name extends keyof Types & string,
> extends CollectionSettings<RecordRow<Types[Name]>> {
  /** The client of the app. */
  readonly client: Client<Types>
  /** The name of the collection whose records are the rows. */
  readonly collection: Name
}

/** A transaction of TanStack DB, as `insert` and the like return it. */
export interface Settling {
  /** Resolves when the transaction is stored on this device. */
  when(state: 'settled'): Promise<unknown>
}

/** Functions at `collection.utils` of a collection of a client. */
export interface PannierClientUtils extends PannierUtils {
  /**
   * The server's answer to a transaction, which may come days later. It rejects if the transaction was not stored on this device.
   *
   * @throws TypeError if the transaction has no writes of a client
   * @example
   * const answer = await tasks.utils.server(tasks.insert({ id, title: 'Buy milk' }))
   * if (answer.status === 'rejected') show(answer.rejected.message)
   */
  readonly server: (transaction: Settling) => Promise<ServerAnswer>
}

/** The writes by their transactions of TanStack DB. */
const writes = new WeakMap<object, Write<unknown>>()

/**
 * Options for a collection of TanStack DB that has the records of the account that is signed in. An optimistic write ends when it is stored on
 * this device. If the server refuses it later, the rows are as before, and `client.rejected()` has it.
 *
 * @example
 * import { createCollection } from '@tanstack/db'
 * const tasks = createCollection(pannierClientCollectionOptions({ client, collection: 'tasks' }))
 */
export function pannierClientCollectionOptions<Types extends AppTypes<Types>, Name extends keyof Types & string>({
  client,
  collection,
  ...settings
}: PannierClientCollectionConfig<Types, Name>): PannierOptions<RecordRow<Types[Name]>, PannierClientUtils> {
  const place = placeOf(client as unknown as Client<UntypedCollections>)
  const persist = (mutating: Mutating): Promise<void> => store(place, mutating)
  return {
    ...settings,
    ...optionsOf(place, { name: collection, syncMode: settings.syncMode }, persist),
    getKey: ({ id }) => id,
    utils: { persist, server },
  }
}

function placeOf(client: Client<UntypedCollections>): Place {
  return {
    owner: client,
    environment: (client as unknown as Pick<Place, 'environment'>).environment,
    rows: (name) => client.collection(name) as never,
    account: () => client.account && `${client.account.collectionName}/${client.account.id}`,
    onAccount: (listener) => client.subscribeState(listener),
    write(body, transaction) {
      const write = client.transaction((tx) =>
        body((name) => {
          const records = tx.collection(name)
          return {
            insert: (row) => records.create({ ...row }),
            update: (id, fields) => records.update(id, withNulls(fields)),
            delete: (id) => records.delete(id),
          }
        }),
      )
      writes.set(transaction, write)
      return write
    },
  }
}

/** A record has all of its fields: one that the app takes away is emptied. */
function withNulls(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, (value as unknown) ?? null]))
}

async function server(transaction: Settling): Promise<ServerAnswer> {
  await transaction.when('settled')
  const write = writes.get(transaction)
  if (write === undefined) throw badArgument('server()', 'the transaction must have writes of a client', transaction)
  return await write.server
}
