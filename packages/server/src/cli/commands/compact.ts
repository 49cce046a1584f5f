import type { Command } from 'commander'
import { DATABASE_ARGUMENT, withDatabase } from '../database-path.ts'
import { UsageError } from '../outcome.ts'
import { printLine, type Terminal } from '../terminal.ts'

export function addCompact(program: Command, terminal: Terminal): void {
  program
    .command('compact')
    .summary('forget the content of old revisions')
    .description(
      'Forgets the content of revisions that were replaced, in collections that keep it, and writes everything that is in the log ' +
        'into pages. Room that becomes free is used again.',
    )
    .argument('<database>', DATABASE_ARGUMENT)
    .argument('[collections...]', 'only these')
    .action((database: string, wanted: string[]) =>
      withDatabase(database, terminal, async (db) => {
        const there = await db.collections()
        const unknown = wanted.find((name) => !there.includes(name))
        if (unknown !== undefined) throw new UsageError(`There is no collection ${unknown}.`)
        for (const name of wanted.length > 0 ? wanted : there) {
          terminal.signal.throwIfAborted()
          const forgotten = await db.collection(name).compact()
          printLine(terminal.stderr, `${name}: the content of ${forgotten} old revisions forgotten.`)
        }
        await db.flush()
      }),
    )
}
