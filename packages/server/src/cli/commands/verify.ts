import type { Command } from 'commander'
import { DATABASE_ARGUMENT, withDatabase } from '../database-path.ts'
import { FailedError } from '../outcome.ts'
import { printLine, problemLine, type Terminal } from '../terminal.ts'

export function addVerify(program: Command, terminal: Terminal): void {
  program
    .command('verify')
    .summary('check a database for damage')
    .description(
      'Checks a whole database: every page and its checksum, every tree and its counts, that documents, revisions, indexes, views and ' +
        'attachments agree. It changes nothing. Ends with 1 if something is wrong.',
    )
    .argument('<database>', DATABASE_ARGUMENT)
    .action((database: string) =>
      withDatabase(database, terminal, async (db) => {
        const { problems } = await db.check()
        for (const problem of problems) printLine(terminal.stdout, problemLine(problem))
        if (problems.length > 0) throw new FailedError(`${problems.length} problems found.`)
        printLine(terminal.stderr, 'No problems found.')
      }),
    )
}
