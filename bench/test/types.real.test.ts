/**
 * Goal: bench agrees with the types of the packages and of the products that it measures. `npm test` does without these products, so
 * the compiler reads bench only here.
 */
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../tools/processes.ts'

const root = resolve(import.meta.dirname, '../..')

test('the compiler finds no error in bench', async () => {
  const { output } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'bench')], { cwd: root })
  expect(output).toBe('')
})
