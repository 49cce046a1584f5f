/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Many databases in one process, few of them open: they are opened when they are borrowed, and closed when they have been idle. At most
 * `openMax` are open. The one that was idle for longest is closed first. While all are borrowed those who come wait.
 * docs/internals/servers.md is the contract.
 */
import type { Database } from 'pannier'
import { badArgument, checkOptions, endOf, systemEnvironment, type OptionNames } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { ServiceError } from '../gateway/service-error.ts'

/** Options of `DatabasePool`. */
export interface DatabasePoolOptions {
  /** How many databases may be open at the same time; 100 when left out. It bounds memory: each has a cache. */
  readonly openMax?: number
  /** A database that nobody has borrowed for so long is closed, in milliseconds; a minute when left out. */
  readonly idleMsMax?: number
  /** How long a borrower waits while all that may be open are borrowed, in milliseconds; 30,000 when left out. */
  readonly waitMsMax?: number
  /** The environment for tests: clock and timers. The real ones when left out. */
  readonly environment?: Environment
}

/** A database that stays open until it is given back: by `release`, or at the end of the block of `using`. */
export interface BorrowedDatabase extends Disposable {
  /** The database, which stays open until `release`. */
  readonly database: Database
  /** Releases the database. Idempotent. Feeds, live queries and replications have to end before. */
  release(): void
}

interface PooledDatabase {
  readonly name: string
  readonly opening: Promise<Database>
  borrowers: number
  closing: Promise<void> | undefined
}

const OPTIONS: OptionNames<DatabasePoolOptions> = {
  openMax: true,
  idleMsMax: true,
  waitMsMax: true,
  environment: true,
}
const OPEN_MAX = 100
const IDLE_MS_MAX = 60_000
const WAIT_MS_MAX = 30_000
const RETRY_SECONDS = 5

/**
 * Opens databases by their names when they are needed, and closes those that are idle.
 *
 * @param open Opens the database of a name. It decides where that is, and how large its cache may be.
 * @example
 * const storage = postgres('postgres://app:secret@127.0.0.1/app')
 * const tenants = new DatabasePool((name) => open(name, { storage, cacheBytesMax: 4 * 1024 * 1024 }), { openMax: 200 })
 * const count = await tenants.use('tenant 17', (db) => db.collection('orders').find().count())
 */
export class DatabasePool {
  readonly #open: (name: string) => Promise<Database>
  readonly #openMax: number
  readonly #idleMsMax: number
  readonly #waitMsMax: number
  /** Open, opening or closing: these count. */
  readonly #entries = new Map<string, PooledDatabase>()
  /** Databases that are idle: nobody has borrowed them, since when. The first one for longest. */
  readonly #idle = new Map<PooledDatabase, number>()
  /** The end of the last entry: callers that need another database open come one after another. */
  #entering: Promise<unknown> = Promise.resolve()
  /** Wakes the one that waits. */
  #wake: () => void = () => {}
  readonly #environment: Environment
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  constructor(open: (name: string) => Promise<Database>, options: DatabasePoolOptions = {}) {
    checkOptions('DatabasePool', options, OPTIONS)
    const { openMax = OPEN_MAX, idleMsMax = IDLE_MS_MAX, waitMsMax = WAIT_MS_MAX } = options
    this.#environment = options.environment ?? systemEnvironment()
    if (!Number.isInteger(openMax) || openMax < 1)
      throw badArgument('DatabasePool', 'openMax must be a whole number from 1', openMax)
    if (!(idleMsMax >= 0)) throw badArgument('DatabasePool', 'idleMsMax must be a number from 0', idleMsMax)
    if (!(waitMsMax >= 0)) throw badArgument('DatabasePool', 'waitMsMax must be a number from 0', waitMsMax)
    this.#open = open
    this.#openMax = openMax
    this.#idleMsMax = idleMsMax
    this.#waitMsMax = waitMsMax
  }

  /** How many databases are open, opening or closing, and how many of them somebody has borrowed. */
  get counts(): { readonly open: number; readonly borrowed: number } {
    return { open: this.#entries.size, borrowed: this.#entries.size - this.#idle.size }
  }

  /**
   * Runs `work` with a database, which stays open until `work` has ended.
   *
   * @throws ServiceError as `borrow`, and whatever opening or `work` throws
   */
  async use<T>(name: string, work: (database: Database) => Promise<T> | T): Promise<T> {
    using borrowed = await this.borrow(name)
    return await work(borrowed.database)
  }

  /**
   * A database for longer: for a feed, a live query, a replication. Give it back.
   *
   * @throws ServiceError UNAVAILABLE if as many as may be open are borrowed for `waitMsMax`, or the pool is closed
   */
  async borrow(name: string): Promise<BorrowedDatabase> {
    const untilMs = this.#environment.now() + this.#waitMsMax
    for (;;) {
      if (this.#isClosed) throw unavailable('The databases are closed.')
      const known = this.#entries.get(name)
      if (known?.closing !== undefined) {
        await known.closing
        continue
      }
      if (known !== undefined) this.#take(known)
      const entry = known ?? (await this.#enter(name, untilMs))
      try {
        const database = await entry.opening
        if (!endOf(database).aborted) return this.#borrowed(entry, database)
      } catch (error) {
        this.#giveBack(entry)
        throw error
      }
      // The storage was put back to an earlier state, or somebody has closed it.
      this.#giveBack(entry)
      await this.#close(entry)
    }
  }

  /** Waits for those who have borrowed some, and closes all. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake()
    this.#cancelTimer?.()
    while (this.#entries.size > 0) {
      for (const entry of this.#idle.keys()) void this.#close(entry)
      const closing = [...this.#entries.values()].flatMap((entry) => entry.closing ?? [])
      await (closing.length > 0 ? Promise.all(closing) : this.#changed())
    }
  }

  #borrowed(entry: PooledDatabase, database: Database): BorrowedDatabase {
    let isReleased = false
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      this.#giveBack(entry)
    }
    return { database, release, [Symbol.dispose]: release }
  }

  #take(entry: PooledDatabase): void {
    entry.borrowers++
    this.#idle.delete(entry)
  }

  #giveBack(entry: PooledDatabase): void {
    if (--entry.borrowers > 0) return
    if (entry.closing !== undefined || this.#entries.get(entry.name) !== entry) return this.#wake()
    this.#idle.set(entry, this.#environment.now())
    this.#wake()
    this.#cancelTimer ??= this.#environment.after(this.#idleMsMax, () => this.#closeIdle())
  }

  /** Enters a queue for a database: first come, first served. The entry is borrowed already. */
  #enter(name: string, untilMs: number): Promise<PooledDatabase> {
    const entering = this.#entering.then(async () => {
      await this.#makeRoom(name, untilMs)
      let entry = this.#entries.get(name)
      if (entry === undefined || entry.closing !== undefined) {
        if (this.#isClosed) throw unavailable('The databases are closed.')
        const opening = this.#open(name)
        entry = { name, opening, borrowers: 0, closing: undefined }
        this.#entries.set(name, entry)
        const failed = entry
        // Those who wait for it hear of it by `opening`.
        opening.catch(() => this.#forget(failed))
      }
      this.#take(entry)
      return entry
    })
    this.#entering = entering.catch(() => {})
    return entering
  }

  /** Resolves when one more may be open, or the one of that name is. */
  async #makeRoom(name: string, untilMs: number): Promise<void> {
    for (;;) {
      const there = this.#entries.get(name)
      if (there?.closing !== undefined) await there.closing
      else if (there !== undefined || this.#entries.size < this.#openMax || this.#isClosed) return
      else {
        const [longest] = this.#idle.keys()
        if (longest !== undefined) await this.#close(longest)
        else {
          const remainingMs = untilMs - this.#environment.now()
          if (remainingMs <= 0)
            throw unavailable(
              `As many databases as may be open are in use (${this.#openMax}). Try again, or raise openMax.`,
            )
          await this.#changed(remainingMs)
        }
      }
    }
  }

  #changed(msMax?: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = msMax === undefined ? undefined : this.#environment.after(msMax, resolve)
      const before = this.#wake
      this.#wake = () => {
        cancel?.()
        before()
        this.#wake = () => {}
        resolve()
      }
    })
  }

  #close(entry: PooledDatabase): Promise<void> {
    this.#idle.delete(entry)
    entry.closing ??= entry.opening
      .then((database) => database.close())
      .catch(() => {})
      .then(() => this.#forget(entry))
    return entry.closing
  }

  #forget(entry: PooledDatabase): void {
    this.#idle.delete(entry)
    if (this.#entries.get(entry.name) === entry) this.#entries.delete(entry.name)
    this.#wake()
  }

  #closeIdle(): void {
    this.#cancelTimer = undefined
    const now = this.#environment.now()
    for (const [entry, since] of this.#idle) {
      if (now - since < this.#idleMsMax) {
        this.#cancelTimer = this.#environment.after(this.#idleMsMax - (now - since), () => this.#closeIdle())
        return
      }
      void this.#close(entry)
    }
  }
}

function unavailable(message: string): ServiceError {
  return new ServiceError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_SECONDS })
}
