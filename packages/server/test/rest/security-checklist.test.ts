/** Goal: docs/internals/security-checklist.md names tests that are there. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')

test('each item of the checklist has a test with the name that it says', async () => {
  const page = await readFile(join(ROOT, 'docs/internals/security-checklist.md'), 'utf8')
  const rows = Array.from(page.matchAll(/^\| [^|]+\| [^|]+\| `(server|backend)\/([^`]+)`\s*\| ([^|]+?)\s*\|$/gm))
  const missing: string[] = []
  for (const [, where = '', file = '', name = ''] of rows) {
    const source = await readFile(join(ROOT, 'packages', where, 'test', `${file}.test.ts`), 'utf8').catch(() => '')
    // A name stands behind `test(`, or behind the table of `test.each`.
    const isThere = [`'${name}'`, `"${name}"`].some((quoted) =>
      ['test(', ')('].some((before) => source.replaceAll(/\(\s+/g, '(').includes(before + quoted)),
    )
    if (!isThere) missing.push(`${file}: ${name}`)
  }
  expect(missing).toEqual([])
  expect(rows).toHaveLength(page.split('\n').filter((line) => /`(?:server|backend)\/\w/.test(line)).length)
  expect(rows.length).toBeGreaterThan(40)
})
