import type { Command } from 'commander'
import { storedName } from '../app-collections.ts'
import { DATABASE_ARGUMENT, withDatabase } from '../database-path.ts'
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
        const names = wanted.length > 0 ? wanted : await db.collections()
        const stored = await Promise.all(names.map(async (name) => [name, await storedName(db, name)] as const))
        for (const [name, collection] of stored) {
          terminal.signal.throwIfAborted()
          const forgotten = await db.collection(collection).compact()
          printLine(terminal.stderr, `${name}: the content of ${forgotten} old revisions forgotten.`)
        }
        await db.flush()
      }),
    )
}
