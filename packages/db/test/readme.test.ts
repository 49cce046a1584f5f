/** Goal: the first code of the README runs as it stands, and shows what it says. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import { open, type Database } from '../src/index.ts'
import { memory } from '../src/memory.ts'

test('the five minutes of the README', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const [, example] = /```ts\n([^]*?)```/.exec(readme)!
  const { code } = await transform(example!.replace(/^import .*$/m, ''), { loader: 'ts' })
  const opened: Database[] = []
  const openInMemory = async (name: string): Promise<Database> => {
    const db = await open(name, { storage: memory() })
    opened.push(db)
    return db
  }
  const logged: unknown[] = []
  const rendered: unknown[] = []
  // oxlint-disable-next-line no-implied-eval -- the README is the test.
  const run = new Function('open', 'console', 'render', `return (async () => {${code}})()`) as (
    ...names: readonly unknown[]
  ) => Promise<void>
  await run(openInMemory, { log: (...values: unknown[]) => logged.push(...values) }, (rows: unknown) =>
    rendered.push(rows),
  )
  const ann = { _id: 'ann', _rev: expect.any(String) as string, name: 'Ann', age: 32, city: 'Oslo' }
  expect(logged).toEqual([[ann], 1])
  await expect.poll(() => rendered).toEqual([[ann]])
  for (const db of opened) await db.close()
})
