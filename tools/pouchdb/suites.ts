/**
 * Runs PouchDB's own suites through the adapter, in Node:
 *
 *   npm run node -- tools/pouchdb/suites.ts CHECKOUT [--suite=integration,mapreduce,find] [--storage=memory,file] [--grep=TEXT] [FILE …]
 *
 * CHECKOUT is a clone of PouchDB with its dependencies, after `npm run build-modules`. Nothing is written into it. `--storage=theirs` runs
 * PouchDB's memory adapter, with which ours is compared. FILE: a part of the names of test files.
 */
import { readFileSync, globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { freePort, makeFolder, spawnTracked, stop } from '../processes.ts'

const FILES: Readonly<Record<string, string>> = {
  integration: 'tests/integration/test.*.js',
  mapreduce: 'tests/mapreduce/test.*.js',
  find: 'tests/find/*/test.*.js',
}
const STORAGES: Readonly<Record<string, string>> = { memory: 'pannier', file: 'pannier', theirs: 'memory' }
const TEST_MS_MAX = 20_000
/** The suite's tests of servers that fail look for one here. */
const DOWN_PORT = 3010

interface Report {
  readonly stats: {
    readonly passes: number
    readonly failures: number
    readonly pending: number
    readonly duration: number
  }
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string', default: 'integration,mapreduce,find' },
    storage: { type: 'string', default: 'memory,file' },
    grep: { type: 'string', default: '' },
  },
})
const [path, ...wanted] = positionals
if (path === undefined) throw new Error('Give the path of a checkout of PouchDB.')
const checkout = resolve(path)
let failures = 0
for (const suite of values.suite.split(',')) for (const storage of values.storage.split(',')) await run(suite, storage)
process.exit(failures > 0 ? 1 : 0)

async function run(suite: string, storage: string): Promise<void> {
  const pattern = FILES[suite]
  const adapter = STORAGES[storage]
  if (pattern === undefined || adapter === undefined) throw new Error(`There is no ${suite} on ${storage}.`)
  const folder = makeFolder('pouchdb')
  const port = await freePort()
  const server = spawnTracked(process.execPath, [join(checkout, 'tests/misc/pouchdb-express-router.js')], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  const down = spawnTracked(process.execPath, [join(checkout, 'bin/down-server.js'), String(DOWN_PORT)], {
    stdio: 'ignore',
  })
  const output = join(folder, 'report.json')
  const mocha = spawnTracked(process.execPath, parametersOf(pattern, output), {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      POUCHDB: checkout,
      ADAPTERS: adapter,
      VIEW_ADAPTERS: adapter,
      PANNIER_STORAGE: storage,
      CLIENT: 'node',
      TYPE: suite,
      COUCH_HOST: `http://127.0.0.1:${port}`,
      SERVER: 'pouchdb-express-router',
      SKIP_MIGRATION: '1',
      SEED: '1',
      ...(suite === 'find' && { PLUGINS: 'pouchdb-find' }),
    },
  })
  await once(mocha, 'exit')
  await Promise.all([stop(server), stop(down)])
  print(`${suite} on ${storage}`, JSON.parse(readFileSync(output, 'utf8')) as Report)
}

function parametersOf(pattern: string, output: string): string[] {
  const files = globSync(pattern, { cwd: checkout }).sort()
  const chosen = files.filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  return [
    '--conditions=pannier-source',
    `--import=${join(import.meta.dirname, 'with-adapter.ts')}`,
    join(checkout, 'node_modules/mocha/bin/_mocha'),
    '--exit',
    `--timeout=${TEST_MS_MAX}`,
    `--grep=${values.grep}`,
    `--require=${join(checkout, 'tests/integration/node.setup.js')}`,
    '--reporter=json',
    `--reporter-option=output=${output}`,
    ...chosen.map((file) => join(checkout, file)),
  ]
}

function print(what: string, { stats, failures: failed }: Report): void {
  const seconds = Math.round(stats.duration / 1000)
  console.log(`${what}: ${stats.passes} pass, ${stats.failures} fail, ${stats.pending} pending, ${seconds} s`)
  for (const { fullTitle, err } of failed) console.log(`  ${fullTitle}: ${err.message ?? ''}`)
  failures += stats.failures
}
