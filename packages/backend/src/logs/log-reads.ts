/** Reading of logs by superusers: pages, single logs, and the number of logs in each hour. */
import { RuleError } from '@pannier/rules'
import type { Database } from 'pannier'
import { readSnapshot } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { Access } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import { DataKey } from '../access/data-key.ts'
import { ShownRevisions } from '../access/shown-revisions.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { forbidden, ServiceError } from '../gateway/service-error.ts'
import { queryOf } from '../records/read/select-records.ts'
import { RecordReads } from '../records/record-reads.ts'
import type { ListOptions, RecordJson } from '../records/record-types.ts'
import { LOG_DEFINITION, LOG_DEFINITIONS } from './log-definition.ts'

/** A log as it is shown, in PocketBase's order. */
export interface LogJson {
  /** The id of 15 characters. */
  readonly id: string
  /** When it was created: `2026-11-22 15:04:49.813Z` */
  readonly created: string
  /** The subject of the log. */
  readonly data: JsonObject
  /** The event, in a line. */
  readonly message: string
  /** The level. -4: debug, 0: info, 4: warning, 8: error. */
  readonly level: number
}

/** A page of logs. */
export interface LogPage {
  /** The entries of the page, in order. */
  readonly items: readonly LogJson[]
  /** The number of the page, from 1. */
  readonly page: number
  /** The most entries of a page. */
  readonly perPage: number
  /** The number of all items; -1 if it was skipped. */
  readonly totalItems: number
  /** The number of all pages; -1 if the count was skipped. */
  readonly totalPages: number
}

/** How many logs an hour has. */
export interface LogHour {
  /** The date of the hour: `2026-11-22 15:00:00.000Z` */
  readonly date: string
  /** How many entries it has. */
  readonly total: number
}

/** Logs have none. */
const NO_VIEWS = { rows: async () => [], page: async () => undefined }

/** The logs as superusers read them. */
export class LogReads {
  readonly #database: Database
  readonly #access: Access
  readonly #records: RecordReads

  constructor(database: Database, environment: Environment) {
    this.#database = database
    // Logs have no revisions that anybody sees.
    this.#access = new Access(
      LOG_DEFINITIONS,
      new ShownRevisions(new DataKey(environment.randomBytes(32))),
      environment,
    )
    const definitions = LOG_DEFINITIONS
    this.#records = new RecordReads({ database, environment, definitions, access: this.#access, viewReader: NO_VIEWS })
  }

  /** In the order in which they were stored, unless `sort` says another. @throws ServiceError FORBIDDEN, INVALID */
  async list(actor: Actor, options: Omit<ListOptions, 'expand' | 'fields'>): Promise<LogPage> {
    const { items, ...page } = await this.#records.list(actor, LOG_DEFINITION.name, options)
    return { items: items.map(logJson), ...page }
  }

  /** @throws ServiceError FORBIDDEN, NOT_FOUND */
  async view(actor: Actor, id: string): Promise<LogJson> {
    return logJson(await this.#records.view(actor, LOG_DEFINITION.name, id))
  }

  /** Hours that have logs, the first one first. @throws ServiceError FORBIDDEN, INVALID */
  async stats(actor: Actor, filter: string): Promise<LogHour[]> {
    if (!actor.principal.isAdmin) throw forbidden('')
    const definition = LOG_DEFINITION
    const definitions = LOG_DEFINITIONS
    try {
      const bound = this.#access.bindList(actor, definition, { action: 'list', filter })
      return await readSnapshot(this.#database, async (reader) => {
        const snapshot = this.#records.snapshotOf(reader)
        const all = { definition, definitions, bound, sort: [], skip: 0, limit: Infinity, withTotal: false }
        const { query } = await queryOf(snapshot, all)
        const hours = query.groupBy('hour').aggregate({ total: { $count: true } })
        const rows = (await hours.sort('hour').toArray()) as { hour: string; total: number }[]
        return rows.map(({ hour, total }) => ({ date: hour, total }))
      })
    } catch (error) {
      throw error instanceof RuleError ? new ServiceError('INVALID', 'Invalid filter format.', { cause: error }) : error
    }
  }
}

function logJson({ id, created, data, message, level }: RecordJson): LogJson {
  return { id, created, data, message, level } as LogJson
}
