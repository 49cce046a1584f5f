import { existsSync, openAsBlob } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { open, type Database } from 'pannier'
import type { ByteSource } from 'pannier/types'
import { forgetSigningKey } from '../../auth/signing-key.ts'
import { makePrivateFolder } from '../../http/private-files.ts'
import {
  databasePath,
  DATABASE_ARGUMENT,
  givenPassword,
  SERVER_FILE,
  unlocking,
  type Unlocking,
} from '../database-path.ts'
import { UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { counted, printLine, type Terminal } from '../terminal.ts'

export function addRestore(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .summary('make a database from a dump')
    .description(
      'Makes a database from a file that `pannier dump` wrote. What is there already is never written over. With a password in ' +
        'PANNIER_PASSWORD the database is encrypted. The dump of an encrypted one needs its password.',
    )
    .argument('<database>', DATABASE_ARGUMENT)
    .argument('<file>', 'a dump; - is the standard input')
    .action(async (database: string, file: string) => {
      const path = databasePath(database)
      if (existsSync(path)) throw new UsageError(`${path} is there already; restore to another place.`)
      if (file !== '-' && !existsSync(file)) throw new UsageError(`There is no file ${file}.`)
      if (file !== '-') await assertNoBackup(file, path)
      await makePrivateFolder(dirname(path))
      if (basename(path) === SERVER_FILE) await forgetSigningKey(dirname(path))
      const progress = startProgress(terminal, 'Restoring', 'bytes')
      try {
        const from = file === '-' ? (Readable.toWeb(terminal.stdin) as ByteSource) : await openAsBlob(file)
        const onProgress = (done: number): void => progress.update(done)
        const restore = (credential: Unlocking): Promise<Database> =>
          open(path, { from, ...credential, signal: terminal.signal, onProgress })
        const given = givenPassword()
        const isOnce = file === '-' || given.encryption !== undefined
        const db = await (isOnce ? restore(given) : unlocking(file, terminal, restore))
        const collections = await db.collections()
        await db.close()
        progress.stop()
        printLine(terminal.stderr, `${path} restored: ${counted(collections.length, 'collection')}.`)
      } finally {
        progress.stop()
      }
    })
}

/** Backups of the application are ZIP files. */
async function assertNoBackup(file: string, path: string): Promise<void> {
  const blob = await openAsBlob(file)
  if ((await blob.slice(0, 2).text()) !== 'PK') return
  throw new UsageError(
    `${file} is a backup of an application, and no dump: \`pannier backup restore ${file} --dir ${dirname(path)}\` restores it.`,
  )
}
