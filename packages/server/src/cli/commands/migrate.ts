import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { openBackend, ServiceError, SYSTEM } from '@pannier/backend'
import { MigrationFolder } from '@pannier/backend/internal'
import { makePrivateFolder } from '../../http/private-files.ts'
import { cleanCopies, migrateDown, migrateUp, migrationsOf, type MigratedFile } from '../../migrations/migrations.ts'
import { givenPassword, givenSettingsKey, SERVER_FILE, withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface Where {
  readonly dir: string
  readonly migrations?: string
}

/** The folder of migrations of a server, unless another is named. */
export function migrationsFolder({ dir, migrations }: Where): string {
  return migrations ?? join(dir, 'migrations')
}

/** The folder that has the data folder, `pb_hooks` and `pb_migrations` beside one another, as PocketBase has them. */
export function pocketBaseProject(dir: string): string | undefined {
  const project = dirname(resolve(dir))
  return ['pb_hooks', 'pb_migrations'].some((name) => existsSync(join(project, name))) ? project : undefined
}

export function addMigrate(program: Command, terminal: Terminal): void {
  const migrate = program
    .command('migrate')
    .summary('migrations of the collections, as files')
    .description(
      'Migrations of a server that is not running: modules with functions up(app) and down(app). `pannier serve` applies those that ' +
        'have not been when it starts. A command that fails changes nothing.',
    )
  addRuns(migrate, terminal)
  addFiles(migrate, terminal)
}

/** Subcommands that change the database. */
function addRuns(migrate: Command, terminal: Terminal): void {
  const say = (text: string): void => printLine(terminal.stderr, text)

  addWhere(migrate.command('up'))
    .summary('apply the migrations that have not been applied')
    .description(
      'Applies the migrations that have not been applied, in the order of their names: all of them, or none.',
    )
    .action(async (where: Where) => {
      await makePrivateFolder(where.dir)
      await cleanCopies(where.dir)
      const names = await serving(() => migrateUp(fileOf(where, terminal)))
      for (const name of names) say(`Applied ${name}.`)
      if (names.length === 0) say('No new migrations to apply.')
    })

  addWhere(migrate.command('down'))
    .summary('revert the last migrations')
    .description(
      'Reverts the last migrations that were applied: all of them, or none. What up() has deleted does not come back.',
    )
    .argument('[number]', 'how many', readCount, 1)
    .action(async (count: number, where: Where) => {
      if (!existsSync(join(where.dir, SERVER_FILE))) throw new UsageError(`There is no database in ${where.dir}.`)
      const names = await serving(() => migrateDown(fileOf(where, terminal), count))
      for (const name of names) say(`Reverted ${name}.`)
      if (names.length === 0) say('No migrations to revert.')
    })
}

/** Subcommands that write files and look for them. */
function addFiles(migrate: Command, terminal: Terminal): void {
  const say = (text: string): void => printLine(terminal.stderr, text)
  const write = async (where: Where, add: (folder: MigrationFolder) => Promise<string>): Promise<void> => {
    const path = migrationsFolder(where)
    const file = await serving(() => add(new MigrationFolder(path, () => terminal.environment.wallClock())))
    say(`${join(path, file)} was made.`)
  }

  addWhere(migrate.command('create'))
    .summary('make an empty migration')
    .description('Makes a migration file to be filled in.')
    .argument('<name>', 'letters, digits and _')
    .action(async (name: string, where: Where) => {
      if (!/^\w+$/.test(name)) throw new UsageError(`A migration has a name of letters, digits and _, got ${name}.`)
      await write(where, (folder) => folder.addBlank(name))
    })

  addWhere(migrate.command('collections'))
    .summary('make a migration of all collections as they are')
    .description('Makes a migration that creates all collections as they are now, and counts it as applied here.')
    .action((where: Where) =>
      withDatabase(where.dir, terminal, async (database) => {
        const backend = await openBackend(database, { sendsMails: false, ...givenSettingsKey() })
        try {
          const reports = await backend.reports.list(SYSTEM)
          await write(where, (folder) => folder.addSnapshot(database, backend.definitions.all(), reports))
        } finally {
          await backend.close()
        }
      }),
    )

  addWhere(migrate.command('history-sync'))
    .summary('forget applied migrations whose files are gone')
    .description('Forgets applied migrations whose files are gone.')
    .action((where: Where) =>
      withDatabase(where.dir, terminal, async (database) => {
        const names = await (await migrationsOf(fileOf(where, terminal))).forgetMissing(database)
        for (const name of names) say(`Forgot ${name}.`)
        if (names.length === 0) say('Every applied migration has its file.')
      }),
    )
}

function addWhere(command: Command): Command {
  return command
    .requiredOption('--dir <dir>', 'the folder of the server')
    .option('--migrations <dir>', 'the folder of the migrations; "migrations" in --dir when left out')
}

function fileOf(where: Where, { environment }: Terminal): MigratedFile {
  return {
    path: join(where.dir, SERVER_FILE),
    folder: migrationsFolder(where),
    pocketbase: pocketBaseProject(where.dir),
    environment,
    ...givenPassword(),
    ...givenSettingsKey(),
  }
}

async function serving<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ServiceError ? new FailedError(error.message, { cause: error }) : error
  }
}

function readCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1) throw new InvalidArgumentError('It is a whole number from 1 on.')
  return count
}
