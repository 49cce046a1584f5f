/** Writes migration files into their folder: empty ones, of all collections, and one for each change of a definition. */
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from 'pannier'
import type { Definition } from '../definitions/definition.ts'
import type { DefinitionJournal, DefinitionPair, JournalEntry } from '../definitions/definitions.ts'
import type { Report, ReportPair } from '../definitions/report.ts'
import { errorText } from '../gateway/log-entry.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { noteApplied } from './migration-history.ts'
import { blankMigration, changeMigration, reportMigration, snapshotMigration } from './migration-text.ts'

const STAMP = /^(\d+)_/

/**
 * The folder of migrations, where files are made. As a journal it writes a file for each change of one definition, as PocketBase's
 * automigrate does. The change and the note that its file was applied are one transaction. A process that is killed between file and
 * transaction leaves a file that the next start applies.
 */
export class MigrationFolder implements DefinitionJournal {
  readonly #path: string
  readonly #now: () => number

  /** `now`: the time, by which files are named. */
  constructor(path: string, now: () => number) {
    this.#path = path
    this.#now = now
  }

  /** Makes a file to be filled in, and returns its name. @throws ServiceError INVALID */
  addBlank(name: string): Promise<string> {
    return this.#add(name, blankMigration())
  }

  /** Makes a file of all collections and reports as they are. It counts as applied in the database. @throws ServiceError INVALID */
  async addSnapshot(database: Database, all: readonly Definition[], reports: readonly Report[]): Promise<string> {
    const file = await this.#add('collections_snapshot', snapshotMigration(all, reports))
    await database.transaction((transaction) => noteApplied(transaction, file))
    return file
  }

  /** A definition is about to change. */
  async begin(pair: DefinitionPair): Promise<JournalEntry | undefined> {
    const text = changeMigration(pair)
    return text === undefined ? undefined : this.#entry(nameOf(pair), text)
  }

  /** A report is about to change. */
  beginReport(pair: ReportPair): Promise<JournalEntry> {
    return this.#entry(`${nameOf(pair)}_report`, reportMigration(pair))
  }

  async #entry(name: string, text: string): Promise<JournalEntry> {
    const file = await this.#add(name, text)
    return {
      note: (transaction) => noteApplied(transaction, file),
      undo: () => rm(join(this.#path, file), { force: true }),
    }
  }

  /** Makes a file whose name comes after all others of the folder. */
  async #add(name: string, text: string): Promise<string> {
    const folder = this.#path
    try {
      await mkdir(folder, { recursive: true })
      const stamps = (await readdir(folder)).map((file) => Number(STAMP.exec(file)?.[1] ?? 0))
      const file = `${Math.max(Math.floor(this.#now() / 1000), ...stamps.map((stamp) => stamp + 1))}_${name}.ts`
      const handle = await open(join(folder, file), 'wx')
      try {
        await handle.writeFile(text)
        await handle.sync()
      } finally {
        await handle.close()
      }
      return file
    } catch (error) {
      const message = `The migration file can't be written to ${folder}: ${errorText(error)}`
      throw new ServiceError('INVALID', message, { cause: error })
    }
  }
}

function nameOf({ before, after }: DefinitionPair | ReportPair): string {
  if (before === undefined) return `created_${after!.name}`
  return `${after === undefined ? 'deleted' : 'updated'}_${before.name}`
}
