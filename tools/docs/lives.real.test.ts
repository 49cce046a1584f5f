/** Goal: the tables "life of a write" and "life of a query" name files that these really enter. Method: `npm run rooms` walks both. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../processes.ts'
import { root } from './code-blocks.ts'

test.each([
  ['insert', 'life-of-a-write.md'],
  ['find', 'life-of-a-query.md'],
])('each file that a table names is entered by a warm %s', async (walk, page) => {
  const rows = readFileSync(join(root, 'docs/internals', page), 'utf8').match(/^\| \d+ .*$/gm)!
  const named = rows.flatMap((row) => row.split('|')[2]!.match(/(?<=`)[^`]+\.ts(?=`)/g) ?? [])
  expect(named.length).toBeGreaterThan(15)
  const program = ['--conditions=pannier-source', join(root, 'tools/rooms.ts'), walk]
  const { output } = await run(process.execPath, program, { cwd: root })
  const entered = [...output.matchAll(/packages\/db\/src\/(\S+\.ts)/g)].map(([, path]) => path)
  expect(named.filter((path) => !entered.includes(path))).toEqual([])
})
