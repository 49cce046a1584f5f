/**
 * Changes a database file whole or not at all, whatever is done. The work gets a copy. Its content takes the place of the
 * file's in one transaction of SQLite. The file is locked all the time, so that no other process writes to what will be replaced.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PannierError } from 'pannier'

const UNFINISHED = 'migrate.unfinished-'

/** Nothing changes when `work` fails. @throws PANNIER_LOCKED if the file is open elsewhere */
export async function changeWhole(path: string, work: (copy: string) => Promise<void>): Promise<void> {
  const connection = locked(path)
  const folder = await mkdtemp(join(dirname(path), UNFINISHED)).catch((error: unknown) => {
    connection.close()
    throw error
  })
  try {
    const copy = join(folder, basename(path))
    connection.prepare('VACUUM INTO ?').run(copy)
    await chmod(copy, 0o600)
    await work(copy)
    replace(connection, copy)
  } finally {
    connection.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether a name is that of a copy that a killed process has left. */
export function isUnfinishedCopy(name: string): boolean {
  return name.startsWith(UNFINISHED)
}

function locked(path: string): DatabaseSync {
  const connection = new DatabaseSync(path)
  try {
    // The lock stays until the connection is closed. What is committed survives a loss of power.
    connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT')
    return connection
  } catch (error) {
    connection.close()
    const message = `Another process has the database file ${path} open. One process at a time can use it.`
    throw new PannierError('PANNIER_LOCKED', message, { cause: error })
  }
}

function replace(connection: DatabaseSync, copy: string): void {
  connection.prepare('ATTACH ? AS copy').run(copy)
  // Closing the connection before the end undoes it.
  connection.exec('BEGIN IMMEDIATE')
  for (const { name } of connection.prepare("SELECT name FROM copy.sqlite_schema WHERE type = 'table'").all()) {
    const table = `"${String(name)}"`
    connection.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM copy.${table}`)
  }
  connection.exec('COMMIT')
}
