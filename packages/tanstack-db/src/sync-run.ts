/**
 * A run of sync: stored rows go to a collection of TanStack DB while that is in use. What the app writes there is stored.
 *
 * TanStack DB holds back what sync commits while a write is at work, and shows it at the end of that write. So a write ends when TanStack DB
 * has got its rows, and nothing flickers.
 */
import type { SyncConfig } from '@tanstack/db'
import { isPannierError, type LiveQuery, type LiveUpdate } from 'pannier'
import { badArgument, tellListener } from 'pannier/internal'
import type { Environment } from 'pannier/types'

/** The number of rows that the first load shows at a time. */
const BATCH_ROWS = 1000

/** A stored row. */
interface StoredRow {
  readonly _id: string
  readonly _rev: string
}

/** The part of a collection that reads. */
interface Rows {
  find(): { live(): LiveQuery<StoredRow> }
  get(ids: readonly string[]): Promise<(StoredRow | undefined)[]>
}

/** The part of a collection that writes, in a transaction. */
export interface RowWriter {
  insert(row: object): Promise<unknown>
  update(id: string, fields: object): Promise<unknown>
  delete(id: string): Promise<unknown>
}

/** The place of the rows: a database, or a client. */
export interface Place {
  /** The owner of the place: the database or the client itself. */
  readonly owner: object
  /** The environment of the owner. */
  readonly environment: Pick<Environment, 'yield'>
  /** The rows of the collection of that name. A client gives those of the account that is signed in. */
  rows(name: string): Rows
  /** Writes all or nothing. */
  write(body: (writerOf: (name: string) => RowWriter) => Promise<void>, transaction: object): PromiseLike<unknown>
  /** The account whose rows there are. */
  account?(): string | undefined
  /** Calls back when the account may be another one. */
  onAccount?(listener: () => void): () => void
}

/** A write to one row, as TanStack DB has it. */
interface Mutation {
  readonly collection: { readonly id: string }
  readonly type: 'insert' | 'update' | 'delete'
  readonly key: unknown
  /** The row after the write. */
  readonly modified: unknown
  /** The fields that the write changes. */
  readonly changes: unknown
}

/** A transaction of TanStack DB, as a `mutationFn` gets it. */
export interface Mutating {
  /** The transaction to store. */
  readonly transaction: { readonly mutations: readonly Mutation[] }
}

type Target = Parameters<SyncConfig<StoredRow, string>['sync']>[0]
type Change = LiveUpdate<StoredRow>['changes'][number]

/** The last run of each collection of TanStack DB. */
const runs = new WeakMap<object, SyncRun>()

/** The sync of a collection of TanStack DB with the collection of that name. */
export function syncOf<Row extends object>(place: Place, name: string): SyncConfig<Row, string> {
  return {
    rowUpdateMode: 'full',
    sync(target) {
      const run = new SyncRun(place, name, target as unknown as Target)
      runs.set(target.collection, run)
      return () => run.end()
    },
  }
}

/** Stores a transaction, all or nothing. Resolves when TanStack DB has got its rows. */
export async function store(place: Place, { transaction }: Mutating): Promise<void> {
  const ids = new Map<SyncRun, string[]>()
  const writes = transaction.mutations.map(({ collection, type, key, modified, changes }) => {
    const run = runs.get(collection)
    if (run?.place.owner !== place.owner)
      throw badArgument('persist()', 'the transaction must be of collections of one database', collection.id)
    const id = key as string
    ids.set(run, [...(ids.get(run) ?? []), id])
    return (writerOf: (name: string) => RowWriter): Promise<unknown> => {
      const rows = writerOf(run.name)
      if (type === 'delete') return rows.delete(id)
      return type === 'insert' ? rows.insert(modified as object) : rows.update(id, changes as object)
    }
  })
  await place.write(async (writerOf) => {
    for (const write of writes) await write(writerOf)
  }, transaction)
  for (const [run, written] of ids) await run.shows(written)
}

class SyncRun {
  readonly place: Place
  readonly name: string
  readonly #target: Target
  /** The revisions of the rows that TanStack DB has got. */
  readonly #revisions = new Map<string, string>()
  readonly #stop: (() => void) | undefined
  /** Undefined: no rows come. */
  #live: LiveQuery<StoredRow> | undefined
  /** Settles when TanStack DB has got more rows, or gets none any more. */
  #news = Promise.withResolvers<void>()
  #account: string | undefined

  constructor(place: Place, name: string, target: Target) {
    this.place = place
    this.name = name
    this.#target = target
    void this.#follow()
    this.#stop = place.onAccount?.(() => {
      if (!this.#live || place.account?.() !== this.#account) void this.#follow(true)
    })
  }

  end(): void {
    this.#stop?.()
    this.#live?.close()
    this.#live = undefined
  }

  /** Resolves when TanStack DB has got these rows as they are stored. After the end of the run it gets none. */
  async shows(ids: readonly string[]): Promise<void> {
    try {
      await this.#live?.ready
      for (let missing = ids; this.#live !== undefined;) {
        // What comes while the rows are read is looked at again.
        const news = this.#news.promise
        const stored = await this.place.rows(this.name).get(missing)
        missing = missing.filter((id, at) => stored[at]?._rev !== this.#revisions.get(id))
        if (missing.length === 0) return
        await news
      }
    } catch {
      // Nothing can be read any more, and the rows are stored.
    }
  }

  /** `isOther`: the rows of another account come in place of those before. */
  async #follow(isOther = false): Promise<void> {
    const { markReady, markError } = this.#target
    this.#live?.close()
    this.#live = undefined
    let live: LiveQuery<StoredRow> | undefined
    let isReady = false
    try {
      this.#account = this.place.account?.()
      live = this.#live = this.place.rows(this.name).find().live()
      for await (const { changes } of live) {
        if (isReady) this.#give(changes)
        else await this.#giveFirst(live, changes, isOther)
        if (live !== this.#live) return
        if (!isReady) tellListener(markReady)
        isReady = true
      }
      // The database is closed. The rows stay, if there are any, until those of another account are there.
      await live.ready
      if (live === this.#live && this.place.account !== undefined) void this.#follow(true)
    } catch (error) {
      const isLastClosed = isOther && isPannierError(error, 'PANNIER_CLOSED')
      if (live === this.#live && !isLastClosed) markError(error)
    } finally {
      if (live === this.#live) this.#live = undefined
      this.#tell()
    }
  }

  /** Gives the rows in batches, so that a page shows the first of them early. */
  async #giveFirst(live: LiveQuery<StoredRow>, changes: readonly Change[], isOther: boolean): Promise<void> {
    for (let at = 0; live === this.#live && (at === 0 || at < changes.length); at += BATCH_ROWS) {
      this.#give(changes.slice(at, at + BATCH_ROWS), isOther && at === 0)
      await this.place.environment.yield()
    }
  }

  #give(changes: readonly Change[], isOther = false): void {
    const { begin, write, commit, truncate } = this.#target
    begin()
    if (isOther) {
      this.#revisions.clear()
      truncate()
    }
    for (const { type, id, row } of changes) {
      if (type === 'removed') {
        this.#revisions.delete(id)
        write({ type: 'delete', key: id })
      } else {
        this.#revisions.set(id, row._rev)
        write({ type: type === 'added' ? 'insert' : 'update', value: row })
      }
    }
    // Listeners of the app may throw.
    tellListener(commit)
    this.#tell()
  }

  #tell(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }
}
