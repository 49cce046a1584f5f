/**
 * A run of sync: stored rows go to a collection of TanStack DB while that is in use. What the app writes there is stored.
 *
 * TanStack DB holds back what sync commits while a write is at work, and shows it at the end of that write. So a write ends when TanStack DB
 * has got its rows, and nothing flickers.
 */
import type { SyncConfig } from '@tanstack/db'
import type { LiveQuery, LiveUpdate } from 'pannier'
import { badArgument, tellListener } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { FoundRows, Selector } from './subset.ts'

/** A stored row. */
export interface StoredRow {
  readonly _id: string
  readonly _rev: string
}

/** The part of a collection that reads. */
interface Rows extends FoundRows {
  find(selector?: Selector): ReturnType<FoundRows['find']> & {
    live(): LiveQuery<StoredRow>
    toArray(): Promise<readonly StoredRow[]>
  }
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

export type Target = Parameters<SyncConfig<StoredRow, string>['sync']>[0]
export type Change = LiveUpdate<StoredRow>['changes'][number]

/** The last run of each collection of TanStack DB. */
const runs = new WeakMap<object, SyncRun>()

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

/** The run that gives rows to a collection of TanStack DB, until it ends. */
export abstract class SyncRun {
  readonly place: Place
  readonly name: string
  protected readonly target: Target
  /** The revisions of the rows that TanStack DB has got. */
  protected readonly revisions: Map<string, string> = new Map()
  /** Settles when TanStack DB has got more rows, or gets none any more. */
  #news = Promise.withResolvers<void>()

  constructor(place: Place, name: string, target: Target) {
    this.place = place
    this.name = name
    this.target = target
    runs.set(target.collection, this)
  }

  abstract end(): void

  /** True while rows come. */
  protected abstract get isAtWork(): boolean

  /** The revisions that TanStack DB has to get of these rows, as they are stored. */
  protected abstract stored(ids: readonly string[]): Promise<(string | undefined)[]>

  /** Resolves when TanStack DB has got these rows as they are stored. After the end of the run it gets none. */
  async shows(ids: readonly string[]): Promise<void> {
    try {
      for (let missing = ids; this.isAtWork;) {
        // What comes while the rows are read is looked at again.
        const news = this.#news.promise
        const stored = await this.stored(missing)
        missing = missing.filter((id, at) => stored[at] !== this.revisions.get(id))
        if (missing.length === 0) return
        await news
      }
    } catch {
      // Nothing can be read any more, and the rows are stored.
    }
  }

  /** Gives changed rows; undefined: the row is gone. `isOther`: they come in place of all rows before. */
  protected give(
    changed: Iterable<readonly [id: string, row: StoredRow | undefined]>,
    isOther = false,
  ): true | Promise<void> {
    const { begin, write, commit, truncate } = this.target
    let receipt: true | Promise<void> = true
    begin()
    if (isOther) {
      this.revisions.clear()
      truncate()
    }
    for (const [id, row] of changed) {
      const isKnown = this.revisions.has(id)
      if (row === undefined) {
        this.revisions.delete(id)
        write({ type: 'delete', key: id })
      } else {
        this.revisions.set(id, row._rev)
        write({ type: isKnown ? 'update' : 'insert', value: row })
      }
    }
    // Listeners of the app may throw.
    tellListener(() => void (receipt = commit()))
    this.tell()
    return receipt
  }

  /** Wakes those who wait for rows. */
  protected tell(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }
}

/** The row that a change leaves. */
export function rowOf(change: Change): readonly [id: string, row: StoredRow | undefined] {
  return [change.id, change.type === 'removed' ? undefined : change.row]
}
