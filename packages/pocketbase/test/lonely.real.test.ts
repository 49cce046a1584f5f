/** Goal: a program ends after the work of a thread that it awaits, and not before: an idle thread keeps no process, a busy one does. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ENDS: readonly (readonly [name: string, gives: unknown])[] = [
  ['migrations', [['1_hives.js'], ['1_hives.js']]],
  ['a function of a design document', [{ value: [[5, 1]] }]],
]

test.each(ENDS)('%s', async (name, gives) => {
  const program = join(import.meta.dirname, 'lonely-program.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=pannier-source', program, name])
  expect(JSON.parse(stdout)).toEqual(gives)
})
