/** Which file a command means: a database file, or the folder of a server. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open, type Database } from 'pannier'
import { UsageError } from './outcome.ts'

/** The file that a server keeps in its folder. */
export const SERVER_FILE = 'pannier.sqlite'

export const DATABASE_ARGUMENT = 'a database file, or the folder of a server (`pannier serve --dir`)'

export function databasePath(path: string): string {
  const isFolder = existsSync(path) && statSync(path).isDirectory()
  return isFolder ? join(path, SERVER_FILE) : path
}

/** Opens a database that is there, for as long as `work` takes. */
export async function withDatabase<T>(path: string, work: (db: Database) => Promise<T>): Promise<T> {
  const file = databasePath(path)
  if (!existsSync(file)) throw new UsageError(`There is no database at ${file}.`)
  return withOpen(file, work)
}

/** Opens a database, or makes it. */
export async function withNewDatabase<T>(path: string, work: (db: Database) => Promise<T>): Promise<T> {
  return withOpen(databasePath(path), work)
}

async function withOpen<T>(file: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await open(file)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
