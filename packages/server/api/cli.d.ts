// What `@pannier/server/cli` offers. Written by `npm run api`.

/**
 * Runs a command in this process, with its terminal; resolves with the exit code.
 *
 * @param parameters What follows the name of the program.
 * @example
 * process.exitCode = await runProgram(['verify', 'shop.db'])
 */
export function runProgram(parameters: readonly string[]): Promise<number>;
