/** Options for a collection of TanStack DB that shows a collection of a database. */
import type { BaseCollectionConfig, CleanupFn, CollectionConfig, SyncConfigRes, SyncMode } from '@tanstack/db'
import type { Collection, Database } from 'pannier'
import { environmentOf } from 'pannier/internal'
import { DemandRun } from './demand-run.ts'
import { store, type Mutating, type Place, type RowWriter, type Target } from './sync-run.ts'
import { WholeRun } from './whole-run.ts'

/** Options of TanStack DB that the app chooses. Pannier gives the others. */
export type CollectionSettings<Row extends object> = Omit<
  BaseCollectionConfig<Row, string>,
  'getKey' | 'schema' | 'onInsert' | 'onUpdate' | 'onDelete' | 'utils'
>

/** A document as a row of TanStack DB. A row that the app inserts has an id, and gets its revision when it is stored. */
export type DocumentRow<T extends object> = T & { readonly _id: string; readonly _rev?: string }

/** Options of `pannierCollectionOptions`. */
export interface PannierCollectionConfig<T extends object> extends CollectionSettings<DocumentRow<T>> {
  /** The database of the collection. */
  readonly db: Database
  /** The collection whose documents are the rows. */
  readonly collection: Collection<T>
}

/** Functions at `collection.utils`. */
export interface PannierUtils {
  /**
   * Stores a transaction of the app, all or nothing. It may span several collections of one database.
   *
   * @example
   * const transaction = createTransaction({ mutationFn: people.utils.persist })
   */
  readonly persist: (mutating: Mutating) => Promise<void>
}

/** Options for `createCollection` of TanStack DB. */
export interface PannierOptions<Row extends object, Utils extends PannierUtils> extends Omit<
  CollectionConfig<Row, string, never, Utils>,
  'utils' | 'schema'
> {
  /** The functions at `collection.utils`. */
  readonly utils: Utils
  /** A schema is declared for the collection of the database, and not here. */
  readonly schema?: never
}

/**
 * Options for a collection of TanStack DB that has the documents of a collection. Writes of all tabs come in. An optimistic write is stored,
 * and rolled back with the error if that fails.
 *
 * @example
 * import { createCollection } from '@tanstack/db'
 * const people = createCollection(pannierCollectionOptions({ db, collection: db.collection<Person>('people') }))
 */
export function pannierCollectionOptions<T extends object>({
  db,
  collection,
  ...settings
}: PannierCollectionConfig<T>): PannierOptions<DocumentRow<T>, PannierUtils> {
  const place: Place = {
    owner: db,
    environment: environmentOf(db),
    rows: () => collection as never,
    write: (body) => db.transaction((tx) => body((name) => tx.collection(name) as unknown as RowWriter)),
  }
  const persist = (mutating: Mutating): Promise<void> => store(place, mutating)
  return {
    ...settings,
    ...optionsOf(place, { name: collection.name, syncMode: settings.syncMode }, persist),
    getKey: ({ _id }) => _id,
    utils: { persist },
  }
}

/** The options that each place gives alike. */
export function optionsOf<Row extends object>(
  place: Place,
  { name, syncMode }: { readonly name: string; readonly syncMode: SyncMode | undefined },
  persist: (mutating: Mutating) => Promise<void>,
): Pick<CollectionConfig<Row, string>, 'sync' | 'onInsert' | 'onUpdate' | 'onDelete'> {
  const start = (target: Target): CleanupFn | SyncConfigRes => {
    if (syncMode !== 'on-demand') {
      const run = new WholeRun(place, name, target)
      return () => run.end()
    }
    const run = new DemandRun(place, name, target)
    return { cleanup: () => run.end(), loadSubset: run.load, unloadSubset: run.unload }
  }
  const sync = { rowUpdateMode: 'full', sync: (target: unknown) => start(target as Target) } as const
  return { sync, onInsert: persist, onUpdate: persist, onDelete: persist }
}
