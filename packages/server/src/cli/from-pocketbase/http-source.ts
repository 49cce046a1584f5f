/** A PocketBase that runs, through its API. */
import { isObject } from 'pannier/internal'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Environment } from 'pannier/types'
import type { ImportedRow } from '@pannier/backend'
import { FailedError } from '../outcome.ts'
import { ApiError, wholeBody, type SuperuserApi } from '../superuser-api.ts'
import { quoted, type PocketBaseSource, type SourceFile } from './source.ts'

/** PocketBase answers no more rows. */
const ROWS_MAX = 1000
const ROWS_FIRST = 100
/** Tokens of files last for three minutes unless superusers have other settings. */
const TOKEN_MS = 5000
const PAGE_BYTES_MAX: number = 8 * 1024 * 1024
/** For all definitions, and for one row. */
const ANSWER_BYTES_MAX: number = 128 * 1024 * 1024

export class HttpSource implements PocketBaseSource {
  readonly #environment: Environment
  readonly #api: SuperuserApi
  readonly #folder: string
  #fileToken = { value: '', untilMs: 0 }
  #files = 0

  /** Close it: files are kept on the disk for a while. */
  static async open(environment: Environment, api: SuperuserApi): Promise<HttpSource> {
    return new HttpSource(environment, api, await mkdtemp(join(tmpdir(), 'pannier-import-')))
  }

  private constructor(environment: Environment, api: SuperuserApi, folder: string) {
    this.#environment = environment
    this.#api = api
    this.#folder = folder
  }

  async query(statement: string): Promise<readonly ImportedRow[]> {
    return this.#all(statement)
  }

  async *pages(table: string): AsyncGenerator<readonly ImportedRow[]> {
    let after = '-9223372036854775808'
    for (let limit = ROWS_FIRST; ;) {
      const statement =
        `SELECT _rowid_ AS "@rowid", * FROM ${quoted(table)} ` +
        `WHERE _rowid_ > ${after} ORDER BY _rowid_ LIMIT ${limit}`
      const rows = limit === 1 ? await this.#all(statement) : await this.#select(statement, PAGE_BYTES_MAX)
      if (rows === undefined) {
        limit = Math.ceil(limit / 4)
        continue
      }
      if (rows.length === 0) return
      const reached = String(rows.at(-1)!['@rowid'])
      if (!isBehind(reached, after)) throw this.#unlike(`Rows of ${table} come again.`)
      after = reached
      yield rows.map(({ '@rowid': _, ...row }) => row)
      limit = Math.min(ROWS_MAX, limit * 2)
    }
  }

  async file(collection: string, record: string, name: string): Promise<SourceFile | undefined> {
    const token = await this.#protectedToken()
    const path = [collection, record, name].map(encodeURIComponent).join('/')
    const query = new URLSearchParams({ token })
    const response = await this.#api.send('GET', `/api/files/${path}?${query}`).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    })
    if (response === undefined) return undefined
    const file = join(this.#folder, String(this.#files++))
    await pipeline(response.body ?? Readable.from([]), createWriteStream(file)).catch((error: unknown) => {
      throw new FailedError(
        `The file ${name} of ${collection}/${record} did not come whole. ${(error as Error).message}`,
      )
    })
    return { name, path: file, dispose: () => rm(file, { force: true }) }
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** For protected files. */
  async #protectedToken(): Promise<string> {
    const nowMs = this.#environment.now()
    if (nowMs >= this.#fileToken.untilMs) {
      const { token } = (await this.#api.json('POST', '/api/files/token')) as { readonly token: string }
      this.#fileToken = { value: token, untilMs: nowMs + TOKEN_MS }
    }
    return this.#fileToken.value
  }

  /** @throws FailedError if the answer does not end */
  async #all(statement: string): Promise<readonly ImportedRow[]> {
    const rows = await this.#select(statement, ANSWER_BYTES_MAX)
    if (rows === undefined) throw this.#unlike(`An answer has more than ${ANSWER_BYTES_MAX} bytes.`)
    return rows
  }

  #unlike(reason: string): FailedError {
    return new FailedError(`${this.#api.origin} does not answer as PocketBase does. ${reason}`)
  }

  /** Undefined if the answer has more bytes. */
  async #select(query: string, bytesMax: number): Promise<readonly ImportedRow[] | undefined> {
    const response = await this.#api.send('POST', '/api/sql', { query }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      const message = `${this.#api.origin} has no /api/sql: this PocketBase is too old.`
      throw new FailedError(`${message} Update it, or name its folder: --data pb_data.`)
    })
    const pieces: Uint8Array[] = []
    let bytes = 0
    for await (const piece of wholeBody(response, this.#api.origin)) {
      bytes += piece.length
      // The rest is not read.
      if (bytes > bytesMax) return undefined
      pieces.push(piece)
    }
    const answer = readAnswer(Buffer.concat(pieces).toString())
    if (answer === undefined) throw this.#unlike('The answer of /api/sql has no lists of columns and rows.')
    const { columns, rows } = answer
    return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])))
  }
}

interface SqlAnswer {
  readonly columns: readonly { readonly name: string }[]
  readonly rows: readonly (readonly (string | null)[])[]
}

/** Undefined if it has another form. */
function readAnswer(text: string): SqlAnswer | undefined {
  try {
    const answer = JSON.parse(text) as SqlAnswer
    const isTable = answer.columns.every((column) => isObject(column)) && answer.rows.every((row) => Array.isArray(row))
    return isTable ? answer : undefined
  } catch {
    return undefined
  }
}

/** Row ids have 64 bits. */
function isBehind(rowId: string, after: string): boolean {
  return /^-?\d{1,19}$/.test(rowId) && BigInt(rowId) > BigInt(after)
}
