/** The command line `pannier`: reads arguments, runs a command, returns the exit code. */
import { Command } from 'commander'
import { addBackup } from './commands/backup.ts'
import { addCompact } from './commands/compact.ts'
import { addDb } from './commands/db.ts'
import { addDump } from './commands/dump.ts'
import { addExport } from './commands/export.ts'
import { addImport } from './commands/import.ts'
import { addInspect } from './commands/inspect.ts'
import { addMigrate } from './commands/migrate.ts'
import { addMove } from './commands/move.ts'
import { addRepair } from './commands/repair.ts'
import { addReplicate } from './commands/replicate.ts'
import { addRestore } from './commands/restore.ts'
import { addRules } from './commands/rules.ts'
import { addServe } from './commands/serve.ts'
import { addSettings } from './commands/settings.ts'
import { addSql } from './commands/sql.ts'
import { addSuperuser } from './commands/superuser.ts'
import { addTypes } from './commands/types.ts'
import { addUser } from './commands/user.ts'
import { addVerify } from './commands/verify.ts'
import { describeError, exitCodeOf, EXIT } from './outcome.ts'
import { firstError, printLine, written, type Terminal } from './terminal.ts'

const COMMANDS = [
  addServe,
  addDb,
  addUser,
  addSuperuser,
  addMigrate,
  addTypes,
  addRules,
  addSql,
  addSettings,
  addBackup,
  addReplicate,
  addImport,
  addExport,
  addDump,
  addRestore,
  addInspect,
  addVerify,
  addRepair,
  addCompact,
  addMove,
]

/** @param parameters What follows the name of the program. */
export async function runCli(parameters: readonly string[], terminal: Terminal, version: string): Promise<number> {
  const program = new Command('pannier')
    .description('A JSON document database for apps that keep working offline: its server and its tools.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
  for (const add of COMMANDS) add(program, terminal)
  for (const command of [program, ...withSubcommands(program)]) {
    if (command !== program) command.exitOverride().copyInheritedSettings(program)
    command.showHelpAfterError(`(${nameOf(command)} --help tells what there is.)`)
  }
  // Without a listener an output that is closed, or full, would end the process amid its work.
  terminal.stderr.on('error', () => {})
  const failed = firstError(terminal.stdout)
  try {
    await program
      .parseAsync(parameters.length === 0 ? ['--help'] : [...parameters], { from: 'user' })
      .catch((error: unknown) => {
        // It has shown help.
        if (exitCodeOf(error, terminal.signal) !== EXIT.done) throw error
      })
    await written(terminal.stdout)
    const error = failed()
    if (error !== undefined) throw error
    return EXIT.done
  } catch (error) {
    const text = describeError(error, terminal.signal)
    if (text !== undefined && text !== '') printLine(terminal.stderr, text)
    return exitCodeOf(error, terminal.signal)
  }
}

/** The name of a command as it is typed: `pannier user add`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

function withSubcommands(command: Command): Command[] {
  return command.commands.flatMap((one) => [one, ...withSubcommands(one)])
}
