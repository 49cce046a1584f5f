import { existsSync, openAsBlob } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { open, type ByteSource } from 'pannier'
import { forgetSigningKey } from '../../auth/signing-key.ts'
import { makePrivateFolder } from '../../http/private-files.ts'
import { databasePath, DATABASE_ARGUMENT, SERVER_FILE } from '../database-path.ts'
import { UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { printLine, type Terminal } from '../terminal.ts'

export function addRestore(program: Command, terminal: Terminal): void {
  program
    .command('restore')
    .summary('make a database from a dump')
    .description('Makes a database from a file that `pannier dump` wrote. What is there already is never written over.')
    .argument('<database>', DATABASE_ARGUMENT)
    .argument('<file>', 'a dump; - is the standard input')
    .action(async (database: string, file: string) => {
      const path = databasePath(database)
      if (existsSync(path)) throw new UsageError(`${path} is there already; restore to another place.`)
      if (file !== '-' && !existsSync(file)) throw new UsageError(`There is no file ${file}.`)
      await makePrivateFolder(dirname(path))
      if (basename(path) === SERVER_FILE) await forgetSigningKey(dirname(path))
      const progress = startProgress(terminal, 'Restoring', 'bytes')
      try {
        const from = file === '-' ? (Readable.toWeb(terminal.stdin) as ByteSource) : await openAsBlob(file)
        const onProgress = (done: number): void => progress.update(done)
        const db = await open(path, { from, signal: terminal.signal, onProgress })
        const collections = await db.collections()
        await db.close()
        progress.stop()
        printLine(terminal.stderr, `${path} restored: ${collections.length} collections.`)
      } finally {
        progress.stop()
      }
    })
}
