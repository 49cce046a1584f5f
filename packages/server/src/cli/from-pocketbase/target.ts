/** Where the collections of a PocketBase go: a server that runs, or the folder of one that does not. */
import { openAsBlob } from 'node:fs'
import type { Database } from 'pannier'
import { ServiceError, SYSTEM } from '@pannier/backend'
import type { Actor, Backend, ImportedRow, ImportedRows, ImportProblem } from '@pannier/backend'
import { MigrationHistory, type JsonObject } from '@pannier/backend/internal'
import { FailedError } from '../outcome.ts'
import { explained, type SuperuserApi } from '../superuser-api.ts'
import type { SourceDefinition, SourceFile } from './source.ts'

/** A collection of the target. */
export interface TargetCollection {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly fields: readonly { readonly id: string; readonly name: string; readonly type: string }[]
}

/** A target of an import, which fails with FailedErrors. */
export interface ImportTarget {
  collections(): Promise<readonly TargetCollection[]>
  isEmpty(collection: string): Promise<boolean>
  /** The definitions that it would not take. */
  check(definitions: readonly SourceDefinition[]): Promise<readonly ImportProblem[]>
  /** Makes the definitions. Fields that are there and not in the list stay. */
  define(definitions: readonly SourceDefinition[]): Promise<void>
  remove(collection: string): Promise<void>
  /** Names of files that it has not, by record. */
  lacking(collection: string, rows: readonly ImportedRow[]): Promise<Readonly<Record<string, readonly string[]>>>
  write(collection: string, rows: readonly ImportedRow[], files: readonly SourceFile[]): Promise<ImportedRows>
  changeSettings(values: JsonObject): Promise<void>
  /** Notes that these migrations were applied, so that no start applies them again. */
  noteMigrations(names: readonly string[]): Promise<void>
}

const ITSELF: Actor = { principal: SYSTEM, request: { context: 'default', method: 'GET', query: {}, headers: {} } }

/** A backend in this process. */
export class BackendTarget implements ImportTarget {
  readonly #backend: Backend
  readonly #isDry: boolean
  readonly #database: Database

  /** `isDry`: records are only looked at. */
  constructor(backend: Backend, database: Database, { isDry = false }: { readonly isDry?: boolean } = {}) {
    this.#backend = backend
    this.#database = database
    this.#isDry = isDry
  }

  async collections(): Promise<readonly TargetCollection[]> {
    return this.#backend.definitions.all()
  }

  async isEmpty(collection: string): Promise<boolean> {
    const { items } = await this.#backend.records.list(ITSELF, collection, { perPage: 1, skipTotal: true })
    return items.length === 0
  }

  check(definitions: readonly SourceDefinition[]): Promise<readonly ImportProblem[]> {
    return asFailed(async () => this.#backend.imports.check(SYSTEM, definitions))
  }

  define(definitions: readonly SourceDefinition[]): Promise<void> {
    return asFailed(() => this.#backend.definitions.import(SYSTEM, definitions, false))
  }

  remove(collection: string): Promise<void> {
    return asFailed(() => this.#backend.definitions.delete(SYSTEM, collection))
  }

  lacking(collection: string, rows: readonly ImportedRow[]): Promise<Readonly<Record<string, readonly string[]>>> {
    return asFailed(() => this.#backend.imports.lacking(SYSTEM, collection, rows))
  }

  write(collection: string, rows: readonly ImportedRow[], files: readonly SourceFile[]): Promise<ImportedRows> {
    return asFailed(async () => {
      if (this.#isDry) return this.#backend.imports.examine(SYSTEM, collection, rows)
      const uploads = files.map(async ({ name, path }) => {
        const blob = await openAsBlob(path)
        return { name, size: blob.size, stream: () => blob.stream() as ReadableStream<Uint8Array> }
      })
      return this.#backend.imports.write(SYSTEM, collection, rows, await Promise.all(uploads))
    })
  }

  async changeSettings(values: JsonObject): Promise<void> {
    await asFailed(() => this.#backend.settings.update(SYSTEM, values))
  }

  async noteMigrations(names: readonly string[]): Promise<void> {
    const history = new MigrationHistory(this.#database)
    await history.replace([...new Set([...(await history.applied()), ...names])])
  }
}

async function asFailed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new FailedError(explained(error.message, error.data), { cause: error })
  }
}

/** A server, through its API. */
export class HttpTarget implements ImportTarget {
  readonly #api: SuperuserApi

  constructor(api: SuperuserApi) {
    this.#api = api
  }

  async collections(): Promise<readonly TargetCollection[]> {
    const all: TargetCollection[] = []
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({ page: String(page), perPage: '500', fields: 'id,name,type,fields' })
      const { items, totalPages } = (await this.#api.json('GET', `/api/collections?${query}`)) as CollectionPage
      all.push(...items)
      if (page >= totalPages) return all
    }
  }

  async isEmpty(collection: string): Promise<boolean> {
    const path = `/api/collections/${collection}/records?perPage=1&skipTotal=1`
    const { items } = (await this.#api.json('GET', path)) as { readonly items: readonly unknown[] }
    return items.length === 0
  }

  async check(collections: readonly SourceDefinition[]): Promise<readonly ImportProblem[]> {
    const answer = await this.#api.json('POST', '/api/imports/check', { collections })
    return (answer as { readonly problems: readonly ImportProblem[] }).problems
  }

  async define(collections: readonly SourceDefinition[]): Promise<void> {
    await this.#api.json('PUT', '/api/collections/import', { collections, deleteMissing: false })
  }

  async remove(collection: string): Promise<void> {
    await this.#api.json('DELETE', `/api/collections/${collection}`)
  }

  async lacking(
    collection: string,
    rows: readonly ImportedRow[],
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    const answer = await this.#api.json('POST', `/api/imports/${collection}/lacking`, { rows })
    return (answer as { readonly lacking: Readonly<Record<string, readonly string[]>> }).lacking
  }

  async write(collection: string, rows: readonly ImportedRow[], files: readonly SourceFile[]): Promise<ImportedRows> {
    const form = new FormData()
    form.set('@jsonPayload', JSON.stringify({ rows }))
    for (const { name, path } of files) form.append('files', await openAsBlob(path), name)
    const body = files.length === 0 ? { rows } : form
    return (await this.#api.json('POST', `/api/imports/${collection}/rows`, body)) as ImportedRows
  }

  async changeSettings(values: JsonObject): Promise<void> {
    await this.#api.json('PATCH', '/api/settings', values)
  }

  /** Notes no migrations: a server that runs has applied its own. */
  async noteMigrations(): Promise<void> {}
}

interface CollectionPage {
  readonly items: readonly TargetCollection[]
  readonly totalPages: number
}
