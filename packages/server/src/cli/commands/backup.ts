import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { openBackend, ServiceError, SYSTEM } from '@pannier/backend'
import { checkUnused, completeRestore, DATABASE_FILES, prepareRestore } from '@pannier/backend/internal'
import { forgetSigningKey } from '../../auth/signing-key.ts'
import { makePrivateFolder } from '../../http/private-files.ts'
import { givenPassword, givenSettingsKey, openFile, SERVER_FILE, withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface Where {
  readonly dir: string
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
    .requiredOption('--dir <dir>', 'the folder of the server; made if need be')
    .action(async (given: string, { dir }: Where) => {
      const file = [given, join(dir, 'backups', given)].find((path) => existsSync(path))
      if (file === undefined) throw new UsageError(`There is no file ${given}.`)
      await makePrivateFolder(dir)
      try {
        if (existsSync(join(dir, SERVER_FILE))) await checkUnused(dir, givenPassword())
        await prepareRestore(dir, file, { ...givenPassword(), ...givenSettingsKey() })
        await completeRestore(dir, () => forgetSigningKey(dir))
      } catch (error) {
        throw asFailed(error)
      }
      say(`${file} was restored.`)
    })
}

function asFailed(error: unknown): unknown {
  return error instanceof ServiceError ? new FailedError(error.message, { cause: error }) : error
}
