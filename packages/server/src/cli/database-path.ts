/** Finds and opens the file that a command's argument names: a database file, or the folder of a server. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isPannierError, open, type Database } from 'pannier'
import { askPassword } from './ask-password.ts'
import { FailedError, UsageError } from './outcome.ts'
import type { Terminal } from './terminal.ts'

/** Options of `open` about a password. */
export interface Unlocking {
  readonly encryption?: { readonly password: string }
}

/** Has the key of the settings, unless `serve` is given another name. */
export const SETTINGS_KEY = 'PANNIER_ENCRYPTION_KEY'

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

/** Opens a file, or makes it: encrypted if PANNIER_PASSWORD is there. */
export function openFile(file: string, terminal: Terminal): Promise<Database> {
  const { environment } = terminal
  if (!existsSync(file)) return open(file, { environment, ...givenPassword() })
  return unlocking(file, terminal, (credential) => open(file, { environment, ...credential }))
}

/** The password of the environment, for files that a command makes. */
export function givenPassword(): Unlocking {
  const password = process.env['PANNIER_PASSWORD']
  return password === undefined ? {} : { encryption: { password } }
}

/** The key of the settings of an application, from an environment variable. */
export function givenSettingsKey(name: string = SETTINGS_KEY): { readonly settingsKey?: string } {
  const settingsKey = process.env[name]
  if (settingsKey === undefined && name !== SETTINGS_KEY)
    throw new UsageError(`--encryption-key-env: the environment has no variable ${name}.`)
  return settingsKey === undefined ? {} : { settingsKey }
}

/**
 * Runs `work` without a password. If that fails with PANNIER_ENCRYPTED, runs it again with PANNIER_PASSWORD or with
 * what is typed at a terminal.
 *
 * @throws FailedError if there is no password
 */
export async function unlocking<T>(
  file: string,
  terminal: Terminal,
  work: (credential: Unlocking) => Promise<T>,
): Promise<T> {
  try {
    return await work({})
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_ENCRYPTED')) throw error
  }
  const given = givenPassword()
  if (given.encryption !== undefined) return work(given)
  if (terminal.stdin.isTTY !== true)
    throw new FailedError(`${file} is encrypted: put its password into the environment variable PANNIER_PASSWORD.`)
  return work({ encryption: { password: await askPassword(terminal, `Password of ${file}`) } })
}

async function withOpen<T>(file: string, terminal: Terminal, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openFile(file, terminal)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
