import type { Command } from 'commander'
import { ServiceError } from '@pannier/backend'
import { Settings } from '@pannier/backend/internal'
import { givenSettingsKey, SETTINGS_KEY, withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { printLine, type Terminal } from '../terminal.ts'

export function addSettings(program: Command, terminal: Terminal): void {
  program
    .command('settings')
    .summary('settings of the application backend')
    .description(
      `Settings of a server that is not running. With a key in ${SETTINGS_KEY} the server stores them encrypted.`,
    )
    .command('decrypt')
    .summary('store encrypted settings without encryption')
    .description(
      'Stores encrypted settings as they are. Without a key, or with another one, the next start takes them so.',
    )
    .requiredOption('--dir <dir>', 'the folder of the server')
    .option('--encryption-key-env <name>', `the environment variable that has the key; ${SETTINGS_KEY} when left out`)
    .action(async ({ dir, encryptionKeyEnv }: { readonly dir: string; readonly encryptionKeyEnv?: string }) => {
      const { settingsKey } = givenSettingsKey(encryptionKeyEnv)
      if (settingsKey === undefined) throw new UsageError(`The environment has no variable ${SETTINGS_KEY}.`)
      await withDatabase(dir, terminal, (database) => Settings.decrypt(database, settingsKey)).catch(
        (error: unknown) => {
          throw error instanceof ServiceError ? new FailedError(error.message, { cause: error }) : error
        },
      )
      printLine(terminal.stderr, 'The settings are no longer encrypted.')
    })
}
