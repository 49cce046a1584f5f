import type { Command } from 'commander'
import { UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { postgresAt } from '../shared-storage.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface MoveArguments {
  readonly storage: readonly string[]
  readonly to: string
  readonly pooled: boolean
}

export function addMove(program: Command, terminal: Terminal): void {
  program
    .command('move')
    .summary('move a database to another PostgreSQL')
    .description(
      'Moves a database to another PostgreSQL of those that servers name with --storage, while they use it. Writes wait at the end, for ' +
        'at most five seconds. Ctrl-C leaves the database where it is. Whatever is killed meanwhile, it is at one of both, whole.',
    )
    .argument('<name>', 'of the database: app, app logs or app fleet for those of pannier serve')
    .requiredOption('--storage <urls...>', 'all PostgreSQLs, in the order that the servers have')
    .requiredOption('--to <url>', 'the one that it moves to')
    .option('--pooled', 'the URLs lead to poolers in transaction mode, such as pgbouncer', false)
    .action((name: string, options: MoveArguments) => move(name, options, terminal))
}

async function move(name: string, { storage: urls, to, pooled }: MoveArguments, terminal: Terminal): Promise<void> {
  const storage = await postgresAt(urls, { prepare: !pooled })
  const progress = startProgress(terminal, 'Moving', '%')
  const onProgress = (done: number): void => progress.update(Math.floor(100 * done), 100)
  try {
    await storage.move(name, to, { signal: terminal.signal, onProgress })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(error.message, { cause: error })
  } finally {
    progress.stop()
  }
  printLine(terminal.stderr, `${name} is at ${await storage.placeOf(name)}.`)
}
