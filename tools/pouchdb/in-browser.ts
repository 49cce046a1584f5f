/**
 * Runs PouchDB's own suites and performance tests through the adapter, in a browser:
 *
 *   npm run node -- tools/pouchdb/in-browser.ts CHECKOUT [--engine=chromium] [--suite=integration,mapreduce,find,performance]
 *     [--storage=IndexedDB,OPFS] [--grep=TEXT] [--minutes=15] [FILE …]
 *
 * CHECKOUT is as for suites.ts. `--storage=idb` or `indexeddb` runs PouchDB's own adapter, with which ours is compared.
 * The performance tests print medians in milliseconds.
 */
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { build, type Plugin } from 'esbuild'
import { bundle } from '../browser/bundle.ts'
import type { Engine } from '../browser/engines.ts'
import { withBrowser } from '../browser/with-browser.ts'
import { freePort, makeFolder, removeFolder, spawnTracked, stop } from '../processes.ts'
import { PAGE_BUILD } from '../web/bundle.ts'

const root = resolve(import.meta.dirname, '../..')
const FILES: Readonly<Record<string, string>> = {
  integration: 'tests/integration/test.*.js',
  mapreduce: 'tests/mapreduce/test.*.js',
  find: 'tests/find/*/test.*.js',
  performance: 'tests/performance/perf.{basics,views,find,attachments}.js',
}
/** Files of Node alone. */
const NODE_ONLY = /test\.(?:defaults|failures|node-websql|issue915)\.js$/
const STORAGES: Readonly<Record<string, string>> = {
  IndexedDB: 'pannier',
  OPFS: 'pannier',
  idb: 'idb',
  indexeddb: 'indexeddb',
}
const LOOK_MS = 2000
/** Iterations of performance tests: enough for a median, and few where PouchDB takes minutes. */
const ITERATIONS: Readonly<Record<string, number>> = {
  'bulk-inserts': 15,
  'bulk-inserts-large-docs': 7,
  'basic-updates': 50,
  'basic-gets': 200,
  'all-docs-skip-limit': 3,
  'all-docs-include-docs': 5,
  'basic-attachments': 100,
  'many-attachments-base64': 20,
  'temp-views': 1,
  'build-secondary-index': 1,
  'create-index': 1,
  'simple-find-query': 30,
  'complex-find-query': 3,
  'multi-field-query': 3,
}

const HTML = `<!doctype html><meta charset="utf-8"><div id="mocha"></div>
<script src="/mocha.js"></script><script src="/chai.js"></script><script src="/chai-as-promised.js"></script>
<script type="module" src="/tests.js"></script>`

const STAND_INS: Readonly<Record<string, string>> = {
  chai: 'module.exports = globalThis.chai',
  // Tests of paths are for other systems.
  os: "module.exports = { platform: () => 'win32' }",
  // A harness on tape is left out: the cases run one after another below.
  cases: 'exports.runTests = (_, __, cases) => (globalThis.cases ??= []).push(...cases)',
}

/** Modules of Node are empty, and chai is the page's. */
const browserOnly: Plugin = {
  name: 'browser-only',
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^(?:chai|fs|http|https|url|stream|zlib|path|vm|os|rimraf|memdown|node-fetch|fetch-cookie)$/ },
      (found) => ({ path: found.path, namespace: 'stand-in' }),
    )
    onResolve({ filter: /^\.\/utils$/ }, (found) =>
      found.importer.includes('tests/performance') ? { path: 'cases', namespace: 'stand-in' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'stand-in' }, (found) => ({
      contents: STAND_INS[found.path] ?? 'module.exports = {}',
    }))
  },
}

/**
 * The banner of the script. A browser has six connections to a host, and live tests hold all of them. So each database of the server has a
 * host name of its own, which Chromium and Firefox resolve to this machine. The rest is as much of Node's process as browsers have.
 */
const BANNER = `if (new URLSearchParams(location.search).get('hosts')) {
  const { fetch } = globalThis
  const server = new URL(new URLSearchParams(location.search).get('couchHost'))
  const names = []
  globalThis.fetch = (given, options) => {
    const address = new URL(given)
    if (address.host !== server.host) return fetch(given, options)
    const name = address.pathname.split('/')[1]
    if (!names.includes(name)) names.push(name)
    address.hostname = 'db' + names.indexOf(name) + '.localhost'
    return fetch(address, options)
  }
}
globalThis.process ??= {
  env: {}, browser: true, on() {}, once() {}, removeListener() {}, emit() {},
  nextTick: (run, ...given) => queueMicrotask(() => run(...given)),
};`

interface Report {
  readonly lines: readonly string[]
  readonly pass: number
  readonly pending: number
  readonly failed: readonly string[]
  readonly isDone: boolean
  readonly now: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: 'chromium' },
    suite: { type: 'string', default: 'integration,mapreduce,find' },
    storage: { type: 'string', default: 'IndexedDB,OPFS' },
    grep: { type: 'string', default: '' },
    minutes: { type: 'string', default: '15' },
  },
})
const [path, ...wanted] = positionals
if (path === undefined) throw new Error('Give the path of a checkout of PouchDB.')
const checkout = resolve(path)
let failures = 0
for (const suite of values.suite.split(',')) for (const storage of values.storage.split(',')) await run(suite, storage)
process.exit(failures > 0 ? 1 : 0)

async function run(suite: string, storage: string): Promise<void> {
  const adapter = STORAGES[storage]
  if (adapter === undefined || FILES[suite] === undefined) throw new Error(`There is no ${suite} on ${storage}.`)
  const folder = makeFolder('pouchdb-browser')
  const [pagePort, port] = [await freePort(), await freePort()]
  const router = spawnTracked(process.execPath, [join(checkout, 'tests/misc/pouchdb-express-router.js')], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  const scripts = new Map<string, string>([
    ['/tests.js', await testsOf(suite, storage)],
    ['/mocha.js', readFileSync(join(checkout, 'node_modules/mocha/mocha.js'), 'utf8')],
    ['/chai.js', readFileSync(join(checkout, 'node_modules/chai/chai.js'), 'utf8')],
    [
      '/chai-as-promised.js',
      readFileSync(join(checkout, 'node_modules/chai-as-promised/lib/chai-as-promised.js'), 'utf8'),
    ],
    ['/deps/bigimage.js', readFileSync(join(checkout, 'tests/integration/deps/bigimage.js'), 'utf8')],
    ['/opfs-worker.js', await bundle(join(root, 'packages/db/src/storage/opfs/opfs-worker.ts'))],
  ])
  const server = createServer(({ url = '/' }, response) => {
    const script = scripts.get(url.split('?')[0]!)
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript')
    response.end(script ?? HTML)
  }).listen(pagePort, 'localhost')
  const query = new URLSearchParams({
    adapters: adapter,
    viewAdapters: adapter,
    couchHost: `http://localhost:${port}`,
    ...(values.engine !== 'webkit' && { hosts: 'own' }),
    ...(suite === 'find' && { plugins: 'pouchdb-find' }),
    grepFor: values.grep,
  })
  await withBrowser(values.engine as Engine, {}, async (browser) => {
    const page = await browser.open(`http://localhost:${pagePort}/?${query.toString()}`)
    const end = Date.now() + Number(values.minutes) * 60_000
    let report: Report | undefined
    do {
      await sleep(LOOK_MS)
      report = await page.evaluate(() => (globalThis as unknown as { report?: Report }).report)
    } while (report?.isDone !== true && Date.now() < end)
    print(`${suite} on ${storage}, ${values.engine}`, report)
    if (report?.isDone !== true) console.log(page.errors().join('\n'))
  })
  server.closeAllConnections()
  server.close()
  await stop(router)
  removeFolder(folder)
}

function print(what: string, report: Report | undefined): void {
  const { pass = 0, pending = 0, failed = [], lines = [], isDone = false, now = 'no page' } = report ?? {}
  console.log(`${what}: ${pass} pass, ${failed.length} fail, ${pending} pending${isDone ? '' : `, not ended: ${now}`}`)
  for (const line of [...lines, ...failed]) console.log(`  ${line}`)
  failures += failed.length + (isDone ? 0 : 1)
}

/** A script with PouchDB, the adapters and the test files. */
async function testsOf(suite: string, storage: string): Promise<string> {
  const files = globSync(FILES[suite]!, { cwd: checkout })
    .filter((file) => !NODE_ONLY.test(file) && (wanted.length === 0 || wanted.some((part) => file.includes(part))))
    .sort()
  const { outputFiles } = await build({
    ...PAGE_BUILD,
    stdin: { contents: suite === 'performance' ? timed(storage, files) : tested(storage, files), resolveDir: root },
    banner: { js: BANNER },
    define: { global: 'globalThis' },
    mainFields: ['browser', 'module', 'main'],
    plugins: [browserOnly],
  })
  return outputFiles[0]!.text
}

function setUp(storage: string): string {
  const packages = join(checkout, 'packages/node_modules')
  return `
    import { opfs } from 'pannier/opfs'
    import { pannierAdapter } from 'pouchdb-adapter-pannier'
    import Plain from '${packages}/pouchdb-browser'
    import indexeddb from '${packages}/pouchdb-adapter-indexeddb'
    import find from '${packages}/pouchdb-find'
    for (const plugin of [indexeddb, find, pannierAdapter]) Plain.plugin(plugin)
    const storage = ${storage === 'OPFS'} ? opfs() : undefined
    const made = Plain.adapters.pannier
    Plain.adapters.pannier = Object.assign(function (given, ready) { made.call(this, { ...given, storage }, ready) }, made)
    Plain.preferredAdapters = ['${STORAGES[storage]}']
    globalThis.PouchDB = Plain
    const report = { lines: [], pass: 0, pending: 0, failed: [], isDone: false, now: '' }
    globalThis.report = report`
}

function tested(storage: string, files: readonly string[]): string {
  return `${setUp(storage)}
    globalThis.should = chai.should()
    globalThis.assert = chai.assert
    mocha.setup({ ui: 'bdd', timeout: 20_000, reporter: function () {} })
    const grep = new URLSearchParams(location.search).get('grepFor')
    if (grep) mocha.grep(grep)
    require('${join(checkout, 'tests/integration/utils.js')}')
    ${files.map((file) => `require('${join(checkout, file)}')`).join('\n    ')}
    const runner = mocha.run(() => (report.isDone = true))
    runner.on('pass', () => report.pass++).on('pending', () => report.pending++)
    runner.on('test', (test) => (report.now = test.fullTitle()))
    runner.on('fail', (test, error) => report.failed.push(test.fullTitle() + ': ' + String(error?.message).slice(0, 200)))`
}

function timed(storage: string, files: readonly string[]): string {
  return `${setUp(storage)}
    ${files.map((file, at) => `import perf${at} from '${join(checkout, file)}'`).join('\n    ')}
    const grep = new URLSearchParams(location.search).get('grepFor')
    for (const declare of [${files.map((_, at) => `perf${at}`).join(', ')}]) declare(PouchDB, () => {})
    for (const { name, setup, test, tearDown } of globalThis.cases) {
      const iterations = ${JSON.stringify(ITERATIONS)}[name]
      if (iterations === undefined || !name.includes(grep)) continue
      report.now = name
      const called = (work) => new Promise((resolve, reject) => work((error, result) => (error ? reject(error) : resolve(result))))
      const db = new PouchDB('perf' + Math.random().toString(36).slice(2))
      try {
        const prepared = await called((done) => setup(db, { iterations }, done))
        const times = []
        for (let at = 0; at < iterations; at++) {
          await new Promise((resolve) => setTimeout(resolve))
          const start = performance.now()
          await called((done) => test(db, at, prepared, done))
          times.push(performance.now() - start)
        }
        report.lines.push(name + ': ' + times.sort((left, right) => left - right)[times.length >> 1].toFixed(2))
        report.pass++
        if (tearDown) await tearDown(db, prepared)
        await db.destroy()
      } catch (error) {
        report.failed.push(name + ': ' + String(error?.stack ?? error?.reason ?? error))
      }
    }
    report.isDone = true`
}
