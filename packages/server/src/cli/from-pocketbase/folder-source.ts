/** The folder of a PocketBase: its SQLite file, which is only read, and the files of its records. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Environment } from 'pannier/types'
import type { ImportedRow } from '@pannier/backend'
import { FailedError, UsageError } from '../outcome.ts'
import { quoted, type PocketBaseSource, type SourceFile } from './source.ts'

const PAGE_BYTES: number = 4 * 1024 * 1024
const PAGE_ROWS = 500

export class FolderSource implements PocketBaseSource {
  readonly #environment: Environment
  readonly #folder: string
  readonly #database: DatabaseSync
  /** Has the files that the folder lacks. */
  readonly #others: PocketBaseSource | undefined

  /** Opens a folder `pb_data`, and reads all of it as of one moment. @throws UsageError, FailedError */
  static open(environment: Environment, folder: string, others?: PocketBaseSource): FolderSource {
    const file = join(folder, 'data.db')
    if (!existsSync(file)) throw new UsageError(`There is no ${file}: --data takes the folder pb_data of a PocketBase.`)
    try {
      const database = new DatabaseSync(file, { readOnly: true })
      database.exec('BEGIN')
      return new FolderSource(environment, folder, database, others)
    } catch (error) {
      throw new FailedError(`${file} can't be read: ${(error as Error).message}.`, { cause: error })
    }
  }

  private constructor(
    environment: Environment,
    folder: string,
    database: DatabaseSync,
    others: PocketBaseSource | undefined,
  ) {
    this.#environment = environment
    this.#folder = folder
    this.#database = database
    this.#others = others
  }

  async query(statement: string): Promise<readonly ImportedRow[]> {
    return [...this.#rows(statement)]
  }

  async *pages(table: string): AsyncGenerator<readonly ImportedRow[]> {
    let page: ImportedRow[] = []
    let bytes = 0
    for (const row of this.#rows(`SELECT * FROM ${quoted(table)} ORDER BY _rowid_`)) {
      page.push(row)
      for (const cell of Object.values(row)) bytes += typeof cell === 'string' ? cell.length : 8
      if (page.length < PAGE_ROWS && bytes < PAGE_BYTES) continue
      yield page
      ;[page, bytes] = [[], 0]
      await this.#environment.yield()
    }
    if (page.length > 0) yield page
  }

  async file(collection: string, record: string, name: string): Promise<SourceFile | undefined> {
    const parts = [collection, record, name]
    const storage = join(this.#folder, 'storage')
    const path = join(storage, ...parts)
    // Nothing outside is read, whatever the rows say.
    const isInside = parts.every((part) => part === basename(part) && !part.startsWith('.'))
    if (isInside && isFileIn(storage, path)) return { name, path, dispose: async () => {} }
    return this.#others?.file(collection, record, name)
  }

  async close(): Promise<void> {
    this.#database.close()
    await this.#others?.close()
  }

  /** @throws FailedError */
  *#rows(statement: string): Generator<ImportedRow> {
    try {
      const prepared = this.#database.prepare(statement)
      // Numbers of 64 bits come whole.
      prepared.setReadBigInts(true)
      for (const row of prepared.iterate())
        yield Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cellOf(cell)]))
    } catch (error) {
      throw new FailedError(`The data.db of this PocketBase can't be read: ${(error as Error).message}.`, {
        cause: error,
      })
    }
  }
}

/** A file of the folder itself: no link leads out of it, and reading ends. */
function isFileIn(folder: string, path: string): boolean {
  if (!existsSync(path)) return false
  const real = realpathSync(path)
  return real.startsWith(realpathSync(folder) + sep) && statSync(real).isFile()
}

/** As PocketBase's API has it. */
function cellOf(cell: unknown): unknown {
  if (typeof cell === 'bigint') return String(cell)
  return cell instanceof Uint8Array ? Buffer.from(cell).toString() : cell
}
