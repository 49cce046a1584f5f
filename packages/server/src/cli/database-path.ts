/** Which file a command means: a database file, or the folder of a server. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isPannierError, open, type Database } from 'pannier'
import { askPassword } from './ask-password.ts'
import { FailedError, UsageError } from './outcome.ts'
import type { Terminal } from './terminal.ts'

/** The file that a server keeps in its folder. */
export const SERVER_FILE = 'pannier.sqlite'

export const DATABASE_ARGUMENT = 'a database file, or the folder of a server (`pannier serve --dir`)'

export function databasePath(path: string): string {
  const isFolder = existsSync(path) && statSync(path).isDirectory()
  return isFolder ? join(path, SERVER_FILE) : path
}

/** Opens a database that is there, for as long as `work` takes. */
export async function withDatabase<T>(
  path: string,
  terminal: Terminal,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const file = databasePath(path)
  if (!existsSync(file)) throw new UsageError(`There is no database at ${file}.`)
  return withOpen(file, terminal, work)
}

/** Opens a database, or makes it. */
export async function withNewDatabase<T>(
  path: string,
  terminal: Terminal,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  return withOpen(databasePath(path), terminal, work)
}

/**
 * Opens a file. The password of an encrypted one is in PANNIER_PASSWORD, or is asked for at a terminal.
 *
 * @throws FailedError if it is encrypted and there is no password
 */
export async function openFile(file: string, terminal: Terminal): Promise<Database> {
  const given = process.env['PANNIER_PASSWORD']
  try {
    return await open(file)
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_ENCRYPTED')) throw error
  }
  if (given === undefined && terminal.stdin.isTTY !== true)
    throw new FailedError(`${file} is encrypted: put its password into the environment variable PANNIER_PASSWORD.`)
  return open(file, { encryption: { password: given ?? (await askPassword(terminal, `Password of ${file}`)) } })
}

async function withOpen<T>(file: string, terminal: Terminal, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openFile(file, terminal)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
