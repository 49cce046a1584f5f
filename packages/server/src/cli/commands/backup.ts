import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { openBackend, ServiceError, SYSTEM, type Backend, type BackupInfo } from '@pannier/backend'
import { DATABASE_FILES, RestoreFolder, restoreInto } from '@pannier/backend/internal'
import { forgetSigningKey } from '../../auth/signing-key.ts'
import { makePrivateFolder } from '../../http/private-files.ts'
import { addWhere, type Where } from '../administer.ts'
import { givenPassword, givenSettingsKey, openFile, SERVER_FILE, withDatabase } from '../database-path.ts'
import { sharedNames } from '../../own-databases.ts'
import { readBy } from '../option-uses.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { postgresAt } from '../shared-storage.ts'
import { SuperuserApi } from '../superuser-api.ts'
import { formatTable } from '../table.ts'
import { printLine, type Terminal } from '../terminal.ts'

const OF_RUNNING =
  "The URL of a server that runs has a superuser's e-mail address and password: http://root%40example.com:password@localhost:5984."

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
      'Backups of all data of a server, as ZIP files. They are made and listed while the server runs, too; restored while it does not.',
    )
  const say = (text: string): void => printLine(terminal.stderr, text)

  addWhere(backup.command('create'))
    .summary('make a backup')
    .description(
      'Makes a backup where the settings keep backups: in the folder `backups` of the server, or in a bucket. ' +
        OF_RUNNING,
    )
    .argument('[name]', 'small letters, digits, - and _, ending in .zip; made when left out', '')
    .action(async (name: string, { dir, url }: Where) => {
      if (url !== undefined) await new SuperuserApi(url, terminal.signal).json('POST', '/api/backups', { name })
      else await withBackups(dir, terminal, ({ backups }) => backups.create(SYSTEM, name))
      say('The backup was made.')
    })

  addWhere(backup.command('list'))
    .summary('show the backups')
    .description(`Shows the backups where the settings keep them. ${OF_RUNNING}`)
    .option('--json', 'for programs', false)
    .action(async ({ dir, url, json }: Where & { readonly json: boolean }) => {
      const all =
        url === undefined
          ? await withBackups(dir, terminal, ({ backups }) => backups.list(SYSTEM))
          : ((await new SuperuserApi(url, terminal.signal).json('GET', '/api/backups')) as BackupInfo[])
      printLine(terminal.stdout, json ? JSON.stringify(all, undefined, 2) : describe(all))
    })

  const restoring = backup
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
  readBy<RestoreArguments>(restoring, {
    pooled: { is: ({ storage }) => storage !== undefined, words: 'with --storage' },
  })
}

async function withBackups<T>(
  dir: string | undefined,
  terminal: Terminal,
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  if (dir === undefined) throw new UsageError('Where? Give --dir or --url.')
  return withDatabase(join(dir, SERVER_FILE), terminal, async (database) => {
    const logs = await openFile(join(dir, DATABASE_FILES['auxiliary.db']), terminal)
    const backend = await openBackend(database, { logs, backups: { dir }, sendsMails: false, ...givenSettingsKey() })
    try {
      return await work(backend)
    } catch (error) {
      throw asFailed(error)
    } finally {
      await backend.close()
      await logs.close()
    }
  })
}

function describe(all: readonly BackupInfo[]): string {
  if (all.length === 0) return 'There are no backups.'
  return formatTable(
    ['backup', 'bytes', 'made'],
    all.map(({ key, size, modified }) => [key, size.toLocaleString('en'), modified]),
  )
}

async function restore(given: string, { dir, storage, pooled }: RestoreArguments, terminal: Terminal): Promise<void> {
  if ((dir === undefined) === (storage === undefined))
    throw new UsageError(
      'Say where to, by one of both: --dir ./data, or --storage postgres://user:password@host/database.',
    )
  const file = [given, ...(dir === undefined ? [] : [join(dir, 'backups', given)])].find((path) => existsSync(path))
  if (file === undefined) throw new UsageError(`There is no file ${given}.`)
  const progress = startProgress(terminal, 'Restoring', 'bytes')
  const options = {
    ...givenPassword(),
    ...givenSettingsKey(),
    signal: terminal.signal,
    onProgress: (done: number) => progress.update(done),
  }
  try {
    if (storage !== undefined)
      await restoreInto(await postgresAt(storage, { prepare: !pooled }), sharedNames(), file, options)
    else {
      await makePrivateFolder(dir!)
      const folder = new RestoreFolder(dir!)
      if (existsSync(join(dir!, SERVER_FILE))) await folder.checkUnused(givenPassword())
      await folder.prepare(file, options)
      await folder.complete(() => forgetSigningKey(dir!))
    }
  } catch (error) {
    throw asFailed(error)
  } finally {
    progress.stop()
  }
  printLine(terminal.stderr, `${file} was restored.`)
}

function asFailed(error: unknown): unknown {
  return error instanceof ServiceError ? new FailedError(error.message, { cause: error }) : error
}
