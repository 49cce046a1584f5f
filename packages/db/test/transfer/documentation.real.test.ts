/** The examples of docs/internals/import-export.md run, and print what a reader expects. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../../..')
const source = join(root, 'packages/db/src')
const page = readFileSync(join(root, 'docs/internals/import-export.md'), 'utf8')
const examples = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!)
const folder = mkdtempSync(join(tmpdir(), 'pannier-docs-'))
afterAll(() => rmSync(folder, { recursive: true }))

const OUTPUTS = [
  /^\{ _id: 'ann', _rev: '1-[0-9a-f]{32}', name: 'Ann' \}\n$/,
  /^2\n$/,
  /^\{"_id":"ann","_rev":"1-[0-9a-f]{32}","age":31\}\n\n$/,
  /^(\d+ of 76 bytes\n)+2\n2 PANNIER_DOCUMENT_INVALID\n$/,
]

test('there is an output for each example', () => {
  expect(examples.length).toBe(OUTPUTS.length)
})

test.each(OUTPUTS.map((output, at) => [at, output] as const))('example %i', (at, output) => {
  const path = join(folder, `example-${at}.ts`)
  const code = examples[at]!.replaceAll(/from 'pannier(\/memory)?'/g, (_, entry?: string) => {
    const file = entry === undefined ? 'index.ts' : 'memory.ts'
    return `from '${pathToFileURL(join(source, file)).href}'`
  })
  writeFileSync(path, code)
  const printed = execFileSync(process.execPath, ['--conditions=pannier-source', path], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(printed).toMatch(output)
})
