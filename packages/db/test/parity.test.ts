/** Goal: the table of docs/internals/parity-pouchdb.md does not rot: each test that it names exists, and each row says something. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const packageFolder = join(import.meta.dirname, '..')
const page = readFileSync(join(packageFolder, '../../docs/internals/parity-pouchdb.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (-|PouchDB )/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))

test('there are rows of three columns', () => {
  expect(rows.length).toBeGreaterThan(80)
  for (const row of rows) expect(row, row.join('|')).toHaveLength(5)
})

test('each row names a test that exists, or the reason for its absence', () => {
  for (const [, item, api, proof] of rows) {
    const named = /^(\S+\.ts): (`` (.*) ``|`(.*)`)$/.exec(proof!)
    if (named === null) {
      expect(proof, item).toMatch(/^(deprecated|not needed: .+)/)
      continue
    }
    expect(api, item).not.toBe('–')
    const name = (named[3] ?? named[4])!
    const source = readFileSync(join(packageFolder, named[1]!), 'utf8')
    const declarations = ["'", '"'].flatMap((quote) => [
      `test(${quote}${name}${quote}`,
      `check(${quote}${name}${quote}`,
    ])
    expect(
      declarations.some((declaration) => source.includes(declaration)),
      `${item}: ${proof}`,
    ).toBe(true)
  }
})
