/** `@pannier/server/cli`: the program `pannier` as a function, for the command that the package `pannier` brings. */
import { SERVER_VERSION } from '../http/server-identity.ts'
import { runCli } from './run.ts'
import { processTerminal } from './terminal.ts'

/**
 * Runs a command in this process, with its terminal; resolves with the exit code.
 *
 * @param parameters What follows the name of the program.
 * @example
 * process.exitCode = await runProgram(['verify', 'shop.db'])
 */
export async function runProgram(parameters: readonly string[]): Promise<number> {
  const terminal = processTerminal()
  const code = await runCli(parameters, terminal, SERVER_VERSION)
  // An open pipe that nobody reads any more would keep the process from ending.
  terminal.stdin.destroy()
  return code
}
