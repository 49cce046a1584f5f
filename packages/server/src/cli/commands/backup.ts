import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { openBackend, ServiceError, SYSTEM } from '@pannier/backend'
import {
  checkUnused,
  completeRestore,
  DATABASE_FILES,
  prepareRestore,
  restoreInto,
  type RestoreOptions,
} from '@pannier/backend/internal'
import { forgetSigningKey } from '../../auth/signing-key.ts'
import { makePrivateFolder } from '../../http/private-files.ts'
import { givenPassword, givenSettingsKey, openFile, SERVER_FILE, withDatabase } from '../database-path.ts'
import { sharedNames } from '../../own-databases.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { postgresAt } from '../shared-storage.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface Where {
  readonly dir: string
}

interface RestoreArguments {
  readonly dir?: string
  readonly storage?: readonly string[]
  readonly pooled: boolean
}

export function addBackup(program: Command, terminal: Terminal): void {
  const backup = program
    .command('backup')
    .summary('backups of the application backend')
    .description(
      "Backups of a server that is not running. One that runs makes and restores them through PocketBase's API.",
    )
  const say = (text: string): void => printLine(terminal.stderr, text)

  backup
    .command('create')
    .summary('make a backup')
    .description(
      'Makes a backup where the settings keep backups: in the folder `backups` of the server, or in a bucket.',
    )
    .argument('[name]', 'small letters, digits, - and _, ending in .zip; made when left out', '')
    .requiredOption('--dir <dir>', 'the folder of the server')
    .action((name: string, { dir }: Where) =>
      withDatabase(join(dir, SERVER_FILE), terminal, async (database) => {
        const logs = await openFile(join(dir, DATABASE_FILES['auxiliary.db']), terminal)
        const backend = await openBackend(database, { logs, backups: { dir }, ...givenSettingsKey() })
        try {
          await backend.backups.create(SYSTEM, name)
          say('The backup was made.')
        } catch (error) {
          throw asFailed(error)
        } finally {
          await backend.close()
          await logs.close()
        }
      }),
    )

  backup
    .command('restore')
    .summary('put the data of a backup in the place of those of a server')
    .description(
      'Checks a backup first. Then its data take the place of those of the server, which are lost. With a password in ' +
        'PANNIER_PASSWORD the database is encrypted, and the backup of an encrypted one is opened.',
    )
    .argument('<file>', 'a backup, or its name in the folder `backups` of the server')
    .option('--dir <dir>', 'the folder of the server; made if need be')
    .option(
      '--storage <urls...>',
      'postgres://user:password@host/database: instead of a folder, where no data of a server are yet',
    )
    .option('--pooled', 'the URLs lead to poolers in transaction mode, such as pgbouncer', false)
    .action((file: string, options: RestoreArguments) => restore(file, options, terminal))
}

async function restore(given: string, { dir, storage, pooled }: RestoreArguments, terminal: Terminal): Promise<void> {
  if ((dir === undefined) === (storage === undefined))
    throw new UsageError(
      'Say where to, by one of both: --dir ./data, or --storage postgres://user:password@host/database.',
    )
  const file = [given, ...(dir === undefined ? [] : [join(dir, 'backups', given)])].find((path) => existsSync(path))
  if (file === undefined) throw new UsageError(`There is no file ${given}.`)
  const progress = startProgress(terminal, 'Restoring', 'bytes')
  const options: RestoreOptions = {
    ...givenPassword(),
    ...givenSettingsKey(),
    signal: terminal.signal,
    onProgress: (done) => progress.update(done),
  }
  try {
    if (storage !== undefined)
      await restoreInto(await postgresAt(storage, { prepare: !pooled }), sharedNames(), file, options)
    else await restoreFolder(dir!, file, options)
  } catch (error) {
    throw asFailed(error)
  } finally {
    progress.stop()
  }
  printLine(terminal.stderr, `${file} was restored.`)
}

async function restoreFolder(dir: string, file: string, options: RestoreOptions): Promise<void> {
  await makePrivateFolder(dir)
  if (existsSync(join(dir, SERVER_FILE))) await checkUnused(dir, givenPassword())
  await prepareRestore(dir, file, options)
  await completeRestore(dir, () => forgetSigningKey(dir))
}

function asFailed(error: unknown): unknown {
  return error instanceof ServiceError ? new FailedError(error.message, { cause: error }) : error
}
