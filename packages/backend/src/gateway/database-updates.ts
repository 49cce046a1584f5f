/**
 * The newest event of each database, in order: the feed of `/_db_updates`. It is in memory, so each start of the server
 * begins new sequences with a new epoch.
 */
import type { Database } from 'pannier'
import { environmentOf } from 'pannier/internal'
import { databaseName } from './databases.ts'

type UpdateType = 'created' | 'updated' | 'deleted'

interface DatabaseUpdate {
  readonly sequence: number
  readonly name: string
  readonly type: UpdateType
}

/** The most events. Databases that are gone are forgotten when there are more. */
const EVENTS_MAX = 5000

/** The newest event of each database, in order. It is in memory: each start of the server begins again. */
export class DatabaseUpdates {
  /** A new one for each start of the server. */
  readonly epoch: string
  /** Newest event of each database, in the order of sequences. */
  readonly #newest = new Map<string, DatabaseUpdate>()
  readonly #waiting = new Set<() => void>()
  readonly #stopListening: () => void
  #last = 0

  /** `names`: of the databases that are there. */
  constructor(database: Database, names: readonly string[]) {
    this.epoch = environmentOf(database).randomId()
    for (const name of names) this.#add(name, 'updated')
    this.#stopListening = database.subscribe(({ collections }) => {
      for (const [collection, { dropped }] of collections) {
        const name = databaseName(collection)
        if (name === undefined) continue
        if (dropped) this.deleted(name)
        else this.#add(name, 'updated')
      }
    })
  }

  /** The sequence of the newest event; 0 without one. */
  get lastSequence(): number {
    return this.#last
  }

  /** Adds the event of a database that was made. */
  created(name: string): void {
    this.#add(name, 'created')
  }

  /** Adds the event of a database that was dropped, unless that is its newest event already. */
  deleted(name: string): void {
    if (this.#newest.get(name)?.type !== 'deleted') this.#add(name, 'deleted')
  }

  /** Sequence of the newest event of a database; 0 without an event. */
  sequenceOf(name: string): number {
    return this.#newest.get(name)?.sequence ?? 0
  }

  /** The events after a sequence, in order. */
  since(sequence: number): DatabaseUpdate[] {
    return [...this.#newest.values()].filter((update) => update.sequence > sequence)
  }

  /** Resolves when there is news, or `signal` is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }

  /** How many wait. */
  get listeners(): number {
    return this.#waiting.size
  }

  /** Stops listening to the database. */
  close(): void {
    this.#stopListening()
  }

  #add(name: string, type: UpdateType): void {
    this.#newest.delete(name)
    this.#newest.set(name, { sequence: ++this.#last, name, type })
    if (this.#newest.size > EVENTS_MAX) {
      for (const update of this.#newest.values()) {
        if (update.type !== 'deleted') continue
        this.#newest.delete(update.name)
        break
      }
    }
    for (const done of this.#waiting) done()
  }
}
