import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { repair } from 'pannier'
import type { RepairedCollection } from 'pannier/types'
import { databasePath, DATABASE_ARGUMENT, unlocking } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { startProgress } from '../progress.ts'
import { counted, printLine, problemLine, type Terminal } from '../terminal.ts'

/** Ids that are printed of each kind; --json gives all that there are. */
const IDS_SHOWN = 20

export function addRepair(program: Command, terminal: Terminal): void {
  program
    .command('repair')
    .summary('make a healthy database of a damaged one')
    .description(
      'Makes a new database of everything that can be read of a damaged one, which stays as it is, and says what could not be saved. ' +
        'Ends with 1 if something could not.',
    )
    .argument('<database>', DATABASE_ARGUMENT)
    .option('--to <file>', 'the new database (default: the file with .repaired behind it)')
    .option('--json', 'the report as JSON on the standard output', false)
    .action(async (database: string, { to, json }: { to?: string; json: boolean }) => {
      const path = databasePath(database)
      if (!existsSync(path)) throw new UsageError(`There is no database at ${path}.`)
      const target = to ?? `${path}.repaired`
      if (existsSync(target)) throw new UsageError(`${target} is there already; repair to another file with --to.`)
      const progress = startProgress(terminal, 'Repairing', '%')
      const onProgress = (done: number): void => progress.update(Math.floor(100 * done), 100)
      try {
        const report = await unlocking(path, terminal, (credential) =>
          repair(path, { to: target, ...credential, signal: terminal.signal, onProgress }),
        )
        progress.stop()
        if (json) printLine(terminal.stdout, JSON.stringify(report, undefined, 2))
        else {
          for (const problem of report.problems) printLine(terminal.stdout, problemLine(problem))
          for (const line of report.collections.flatMap(describe)) printLine(terminal.stdout, line)
        }
        if (!report.isComplete) throw new FailedError(`What could be saved is in ${target}. Not everything could.`)
        printLine(terminal.stderr, `Everything is in ${target}.`)
      } finally {
        progress.stop()
      }
    })
}

function describe(one: RepairedCollection): string[] {
  const later = one.fromLaterCommits === 0 ? '' : `, ${one.fromLaterCommits} of them from behind the damage of the log`
  const attachments = one.attachmentsLost.map(({ id, name }) => `${id}/${name}`)
  return [
    `${one.name}: ${counted(one.documents, 'document')} and ${counted(one.tombstones, 'tombstone')} saved${later}.`,
    ...listed(`${one.name}: documents lost: ${one.documentsLost}`, one.documentsLost, one.idsLost),
    ...listed(`${one.name}: histories or conflicts lost`, one.revisionsLost.length, one.revisionsLost),
    ...listed(`${one.name}: attachments lost`, attachments.length, attachments),
    ...listed(`${one.name}: unique indexes dropped`, one.indexesLost.length, one.indexesLost),
  ]
}

function listed(what: string, count: number, names: readonly string[]): string[] {
  if (count === 0) return []
  const shown = names.slice(0, IDS_SHOWN).join(', ')
  return [`${what}${shown === '' ? '' : `: ${shown}${names.length > IDS_SHOWN ? ', …' : ''}`}`]
}
