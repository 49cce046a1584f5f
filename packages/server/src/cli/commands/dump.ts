import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { DATABASE_ARGUMENT, withDatabase } from '../database-path.ts'
import { writeOutput } from '../file-output.ts'
import { readBy } from '../option-uses.ts'
import { UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { printLine, type Terminal } from '../terminal.ts'

export function addDump(program: Command, terminal: Terminal): void {
  const command = program
    .command('dump')
    .summary('write a whole database into one file')
    .description(
      'Writes a whole database, as it is at one moment, into one snapshot file: all collections, revisions, attachments, indexes. ' +
        '`pannier restore` makes a database of it again.',
    )
    .argument('<database>', DATABASE_ARGUMENT)
    .argument('<file>', 'where to; - is the standard output')
    .option('--force', 'replaces a file that is there', false)
    .action((database: string, file: string, { force }: { readonly force: boolean }) => {
      if (!force && existsSync(file)) throw new UsageError(`${file} is there already; --force replaces it.`)
      return withDatabase(database, terminal, async (db) => {
        const progress = startProgress(terminal, 'Dumping', 'bytes')
        try {
          const onProgress = (done: number): void => progress.update(done)
          const bytes = await writeOutput(db.snapshot({ signal: terminal.signal, onProgress }), file, terminal)
          progress.stop()
          if (file !== '-') printLine(terminal.stderr, `${bytes} bytes written to ${file}.`)
        } finally {
          progress.stop()
        }
      })
    })
  readBy<{ readonly force: boolean }>(command, { force: { is: (_, [, file]) => file !== '-', words: 'with a file' } })
}
