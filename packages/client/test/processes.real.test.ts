/** Goal: a client that waits for its server keeps no process alive. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
/** Far less than the pauses between two tries add up to. */
const END_MS_MAX = 20_000

test('a program ends although its client was not closed and tries again and again', async () => {
  const program = join(import.meta.dirname, 'idle-program.ts')
  const { stdout } = await run(process.execPath, ['--conditions=pannier-source', program], { timeout: END_MS_MAX })
  expect(stdout).toBe('unsent: 1\n')
})
