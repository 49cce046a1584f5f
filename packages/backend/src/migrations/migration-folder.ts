/** Writes migration files into their folder, and keeps a file for each change of a definition. */
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DefinitionJournal, DefinitionPair, JournalEntry } from '../definitions/definitions.ts'
import { errorText } from '../gateway/log-entry.ts'
import type { ReportPair } from '../definitions/report.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { noteApplied } from './migration-history.ts'
import { changeMigration, reportMigration } from './migration-text.ts'

const STAMP = /^(\d+)_/

/** Makes a file whose name comes after all others of the folder, and returns that. @throws ServiceError INVALID */
export async function addMigration(folder: string, name: string, text: string, now: number): Promise<string> {
  try {
    await mkdir(folder, { recursive: true })
    const stamps = (await readdir(folder)).map((file) => Number(STAMP.exec(file)?.[1] ?? 0))
    const file = `${Math.max(Math.floor(now / 1000), ...stamps.map((stamp) => stamp + 1))}_${name}.ts`
    const handle = await open(join(folder, file), 'wx')
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return file
  } catch (error) {
    throw new ServiceError('INVALID', `The migration file can't be written to ${folder}: ${errorText(error)}`, {
      cause: error,
    })
  }
}

/**
 * Writes a file for each change of one definition, as PocketBase's automigrate does. The change and the note that its file was
 * applied are one transaction. A process that is killed between file and transaction leaves a file that the next start applies.
 */
export class ChangeJournal implements DefinitionJournal {
  readonly #folder: string
  readonly #now: () => number

  constructor(folder: string, now: () => number) {
    this.#folder = folder
    this.#now = now
  }

  async begin(pair: DefinitionPair): Promise<JournalEntry | undefined> {
    const text = changeMigration(pair)
    return text === undefined ? undefined : this.#entry(nameOf(pair), text)
  }

  /** As `begin`, for a report. */
  beginReport(pair: ReportPair): Promise<JournalEntry> {
    return this.#entry(`${nameOf(pair)}_report`, reportMigration(pair))
  }

  async #entry(name: string, text: string): Promise<JournalEntry> {
    const file = await addMigration(this.#folder, name, text, this.#now())
    return {
      note: (transaction) => noteApplied(transaction, file),
      undo: () => rm(join(this.#folder, file), { force: true }),
    }
  }
}

function nameOf({ before, after }: DefinitionPair | ReportPair): string {
  if (before === undefined) return `created_${after!.name}`
  return `${after === undefined ? 'deleted' : 'updated'}_${before.name}`
}

/** The names of the migration files of a folder, in their order. */
export async function migrationNames(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() && isMigration(entry.name) ? [entry.name] : [])).sort()
}

function isMigration(name: string): boolean {
  return /\.m?[jt]s$/.test(name) && !/\.d\.m?ts$|^[._]|\.test\.\w+$/.test(name)
}
