/** `@pannier/server/cli`: the program `pannier` as a function, for the command that the package `pannier` brings. */
import { readFileSync } from 'node:fs'
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
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  return await runCli(parameters, processTerminal(), version)
}
