/**
 * Runs PouchDB's own performance tests, by their names, on our adapter and on PouchDB's, in Node:
 *
 *   npm run node -- tools/pouchdb/performance.ts CHECKOUT [--rounds=1] [TEST …]
 *
 * Prints a table of medians in milliseconds. The adapters take turns at each test, so load from outside meets all of them. CHECKOUT is as
 * for suites.ts.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeFolder, removeFolder, run } from '../processes.ts'

/** Tests with their iterations: PouchDB's own where they are cheap, so that code is warm, and few where PouchDB takes minutes. */
const TESTS: Readonly<Record<string, number>> = {
  'basic-inserts': 200,
  'bulk-inserts': 50,
  'bulk-inserts-large-docs': 20,
  'basic-updates': 100,
  'basic-gets': 200,
  'all-docs-skip-limit': 5,
  'all-docs-startkey-endkey': 5,
  'all-docs-keys': 10,
  'all-docs-include-docs': 10,
  'basic-attachments': 200,
  'many-attachments-base64': 30,
  'temp-views': 1,
  'build-secondary-index': 1,
  'persisted-views': 3,
  'create-index': 1,
  'simple-find-query': 50,
  'simple-find-query-no-index': 3,
  'complex-find-query': 3,
  'complex-find-query-no-index': 3,
  'multi-field-query': 3,
}
const ADAPTERS: Readonly<Record<string, { readonly ADAPTERS: string; readonly PANNIER_STORAGE?: string }>> = {
  memory: { ADAPTERS: 'memory' },
  'pannier, memory': { ADAPTERS: 'pannier', PANNIER_STORAGE: 'memory' },
  leveldb: { ADAPTERS: 'leveldb' },
  nodesqlite: { ADAPTERS: 'nodesqlite' },
  'pannier, file': { ADAPTERS: 'pannier', PANNIER_STORAGE: 'file' },
}
const TEST_MS_MAX = 180_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '1' } },
})
const [path, ...wanted] = positionals
if (path === undefined) throw new Error('Give the path of a checkout of PouchDB.')
const checkout = resolve(path)
const names = wanted.length > 0 ? wanted : Object.keys(TESTS)
console.log(`| test | ${Object.keys(ADAPTERS).join(' | ')} |`)
console.log(
  `| --- | ${Object.keys(ADAPTERS)
    .map(() => '---:')
    .join(' | ')} |`,
)
for (const name of names) {
  const medians: number[][] = Object.keys(ADAPTERS).map(() => [])
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [at, settings] of Object.values(ADAPTERS).entries()) medians[at]!.push(await measure(name, settings))
  console.log(`| ${name} | ${medians.map((all) => shown(Math.min(...all))).join(' | ')} |`)
}

/** NaN: the test did not end in time. */
async function measure(name: string, settings: object): Promise<number> {
  const folder = makeFolder('pouchdb-performance')
  // The tests keep their databases there.
  mkdirSync(join(folder, 'tmp'))
  const environment = { POUCHDB: checkout, CLIENT: 'node', GREP: `^${name}$`, ITERATIONS: String(TESTS[name] ?? 1) }
  const { output } = await run(
    process.execPath,
    [
      '--conditions=pannier-source',
      `--import=${join(import.meta.dirname, 'with-adapter.ts')}`,
      join(checkout, 'tests/performance/index.js'),
    ],
    { cwd: folder, env: { ...process.env, ...environment, ...settings }, timeoutMs: TEST_MS_MAX },
  )
  removeFolder(folder)
  return Number(/median: ([\d.]+) ms/.exec(output)?.[1] ?? Number.NaN)
}

function shown(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return '–'
  return milliseconds < 10 ? milliseconds.toFixed(2) : Math.round(milliseconds).toLocaleString('en-US')
}
