/**
 * Logs: what happens, kept in a database of its own, so that they wait for nothing and nothing waits for them. Entries are stored
 * some seconds later, many in one commit.
 */
import type { Collection, Database } from 'pannier'
import type { Environment } from 'pannier/types'
import { LOWER, randomText } from '../gateway/chance.ts'
import { dateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { errorText, LOG_LEVELS, type LogEntry, type LogWriter } from '../gateway/log-entry.ts'
import type { Settings } from '../settings/settings.ts'
import { LOG_COLLECTION } from './log-definition.ts'
import { isClockTrusted } from '../gateway/seen-clock.ts'

const ID_CHARS = 15
/** The most entries of a batch, as PocketBase. */
const BATCH_ENTRIES = 200
const WAIT_MS = 3000
/** The most entries that wait. More are dropped while the database is slower than what happens. */
const WAITING_MAX = 10_000
const REMOVED_AT_ONCE = 200
/** How long a clock is in doubt: one that has jumped is put right sooner. */
const DOUBT_MS = 3_600_000
const DAY_MS = 86_400_000

/** A log as it is stored. */
interface LogDocument extends JsonObject {
  /** The id of the entry. */
  readonly _id: string
  /** When it was created: `2026-11-22 15:04:49.813Z` */
  readonly created: string
  /** A level of `LOG_LEVELS`. */
  readonly level: number
  /** The event, in a line. */
  readonly message: string
  /** The subject of the log. */
  readonly data: JsonObject
  /** The hour of `created`, for statistics: `2026-11-22 15:00:00.000Z`. */
  readonly hour: string
}

interface LogsOptions {
  readonly database: Database
  readonly settings: Settings
  readonly environment: Environment
  /** Prints an entry at once that is no request: nobody has to look for it. */
  readonly print: (entry: LogEntry) => void
}

/** Keeps what happens, in batches, as long as the settings say. */
export class Logs implements LogWriter {
  /** As they are stored. */
  readonly documents: Collection<LogDocument>
  readonly #options: LogsOptions
  readonly #stopListening: () => void
  #waiting: LogDocument[] = []
  #dropped = 0
  #cancelTimer: (() => void) | undefined
  /** Stores and removals come one after another. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: LogsOptions) {
    this.#options = options
    this.documents = options.database.collection<LogDocument>(LOG_COLLECTION, { indexes: ['created'] })
    this.#stopListening = options.settings.subscribe(() => void this.removeOld())
    void this.removeOld()
  }

  /** Keeps an entry, if its level is one that the settings keep. */
  write(entry: LogEntry): void {
    const { level = LOG_LEVELS.info, message, data = {} } = entry
    const { settings, environment, print } = this.#options
    if (data['type'] !== 'request') print(entry)
    const { maxDays, minLevel } = settings.values.logs
    if (maxDays === 0 || level < minLevel) return
    if (this.#waiting.length >= WAITING_MAX) {
      this.#dropped++
      return
    }
    const id = randomText(environment, ID_CHARS, LOWER)
    this.#waiting.push(logDocument(id, { level, message, data }, environment.wallClock()))
    if (this.#waiting.length === BATCH_ENTRIES) void this.flush()
    else this.#cancelTimer ??= environment.after(WAIT_MS, () => void this.flush())
  }

  /** Stores what waits. */
  flush(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    return this.#afterLast(async () => {
      while (this.#waiting.length > 0) await this.documents.insert(this.#waiting.splice(0, BATCH_ENTRIES))
      if (this.#dropped === 0) return
      const message = `${this.#dropped} logs were dropped, as they came faster than the database could store them.`
      this.#dropped = 0
      this.write({ level: LOG_LEVELS.warn, message })
    })
  }

  /** Removes what the settings no longer keep. */
  removeOld(): Promise<void> {
    return this.#afterLast(async () => {
      const { settings, environment, database } = this.#options
      const { maxDays, minLevel } = settings.values.logs
      const now = environment.wallClock()
      if (maxDays === 0) await this.#remove({})
      else if (await isClockTrusted(database, now, DOUBT_MS))
        await this.#remove({ created: { $lte: dateText(now - maxDays * DAY_MS) } })
      await this.#remove({ level: { $lt: minLevel } })
    })
  }

  /** Removes all. */
  truncate(): Promise<void> {
    return this.#afterLast(async () => {
      this.#waiting = []
      await this.#remove({})
    })
  }

  /** Stores what waits. What is written later is lost. */
  async close(): Promise<void> {
    this.#stopListening()
    await this.flush()
  }

  /** Deletes logs in steps. Others may write between the steps. */
  async #remove(which: Parameters<Collection<LogDocument>['find']>[0]): Promise<void> {
    for (;;) {
      const found = await this.documents.find(which).limit(REMOVED_AT_ONCE).fields('_id').toArray()
      if (found.length === 0) return
      await this.#options.database.transaction(async (transaction) => {
        const documents = transaction.collection<LogDocument>(LOG_COLLECTION)
        // A deletion would leave a revision behind.
        for (const { _id } of found) await documents.purge(_id!)
      })
    }
  }

  /** A database that fails loses logs, and stops nothing. */
  #afterLast(run: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(run).catch((error: unknown) => {
      const data = { error: errorText(error) }
      this.#options.print({ level: LOG_LEVELS.error, message: 'Logs could not be written.', data })
    })
    return this.#last
  }
}

function logDocument(_id: string, entry: Required<LogEntry>, time: number): LogDocument {
  const created = dateText(time)
  return { _id, created, ...entry, hour: `${created.slice(0, 13)}:00:00.000Z` }
}
