/**
 * The cost of the library for a page, by its published files (join-modules.ts).
 *
 * - "everyday", the one figure of size: what is loaded to open, write, index and query, as one file, minified and compressed. Features
 *   are loaded on first use (docs/adr/0030-one-size-figure.md). `--layers` prints where its bytes come from.
 * - chunks: how many files a bundler makes of the library for `import { open } from 'pannier'`, without the application's own.
 */
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { join } from 'node:path'
import { buildAdminPage } from '../web/admin-page.ts'
import { joinModules } from './join-modules.ts'
import { root } from './packages.ts'

/** The ratchets: a little above what it is now. They may only be lowered. ADRs 30, 47 and 51 say what raised this one. */
const EVERYDAY_BYTES_MAX = 73.62 * 1024
const EVERYDAY_BYTES_GOAL = 58 * 1024
/** 16: relations have a chunk of their own, as pages that declare none need nothing of it; live queries one that others import. */
const CHUNKS_MAX = 16
/** Lists of exports that esbuild makes for `shared.js` and `live.js` are smaller: features import these files, and `core.js` loads them. */
const CHUNK_BYTES_MIN = 2 * 1024
const SMALL_CHUNKS_MAX = 2
/** The cost of `pannier/opfs`: in the page, and in the worker's own file (docs/adr/0005-opfs.md). */
const OPFS_BYTES_MAX = { 'opfs.ts': 2.8 * 1024, 'opfs-worker.ts': 7.8 * 1024 }
/**
 * Each entry of `@pannier/rules` alone. `compile` is for servers, and shares half of its modules with the main entry. The values that
 * a list is sorted by are 0.4 KiB of it, what a match-all implies and texts in lower case 0.1 KiB. What refuses a rule that tries too many
 * rows is 0.1 KiB of each. Rules of fields, and the rows and the time that a request may take, are 0.2 KiB of each. `search()` is 0.2 KiB
 * of the main entry. To plan a rule once a record and not once a row is 0.1 KiB of each (ADR 51). `cut` is for servers, and has most of
 * both.
 */
const RULES_BYTES_MAX = { 'index.ts': 12.95 * 1024, 'compile.ts': 8.3 * 1024, 'cut.ts': 20.3 * 1024 }
const RULES_BYTES_GOAL = 8 * 1024
/** `@pannier/client`, beside the library. */
const CLIENT_BYTES_MAX = 13.04 * 1024

/**
 * Each package for a framework with the stores below it, beside the library and the framework. `app` is what an app of a server can use. Its
 * bar is 2 KiB. `all` has searches, replications and tabs too (ADR 56).
 */
const BINDINGS: Readonly<Record<string, { readonly prefix: string; readonly app: number; readonly all: number }>> = {
  react: { prefix: 'use', app: 1.92 * 1024, all: 2.85 * 1024 },
  vue: { prefix: 'use', app: 1.95 * 1024, all: 2.88 * 1024 },
  svelte: { prefix: 'create', app: 1.96 * 1024, all: 2.9 * 1024 },
  solid: { prefix: 'create', app: 2 * 1024, all: 2.93 * 1024 },
  angular: { prefix: 'inject', app: 1.99 * 1024, all: 2.92 * 1024 },
}
const APP_FUNCTIONS = ['LiveQuery', 'Count', 'Document', 'Draft', 'Sync', 'Rejected', 'Can']
const FRAMEWORKS = ['react', 'vue', 'svelte', 'solid-js', '@angular/core']
/** `@pannier/tanstack-db`, beside the library, the client and TanStack DB (ADR 54). */
const TANSTACK_DB_BYTES_MAX = 3.52 * 1024
/** `@pannier/sqlite-storage`, beside the library. */
const SQLITE_STORAGE_BYTES_MAX = 3.6 * 1024
/** `@pannier/devtools`, beside the library, when they are opened, and before. The bar of the first is 60 KiB (ADR 58). */
const DEVTOOLS_BYTES_MAX = { 'element.ts': 24 * 1024, 'index.ts': 0.7 * 1024 }
/** `pouchdb-adapter-pannier`, beside the library and PouchDB. */
const POUCHDB_BYTES_MAX = 14 * 1024

/** The bytes that a browser loads before the admin page shows anything: React is 58 KiB of it. The bar is 250 KiB. */
const ADMIN_FIRST_BYTES_MAX = 96 * 1024

const OPTIONS = {
  absWorkingDir: root,
  outdir: root,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  conditions: ['pannier-source', 'browser'],
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions

const published = new Map((await joinModules()).map(({ fileName, code }) => [fileName, code]))

/** Gives published files, which need not be on disk. */
const fromMemory: Plugin = {
  name: 'published files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(\.|#|pannier$)/ }, ({ path, importer }) => ({
      path: fileOf(path, importer),
      namespace: 'published',
    }))
    onLoad({ filter: /./, namespace: 'published' }, ({ path }) => ({ contents: published.get(path)! }))
  },
}

const onDemandIsExternal: Plugin = {
  name: 'on demand is external',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
  },
}

const stdin = { contents: `export { open, isPannierError, PannierError } from 'pannier'`, resolveDir: root }
const everydayBytes = await bytesOf({ stdin, plugins: [onDemandIsExternal, fromMemory] })
limit('everyday', everydayBytes, EVERYDAY_BYTES_MAX, EVERYDAY_BYTES_GOAL)
await checkChunks()
for (const [file, allowed] of Object.entries(OPFS_BYTES_MAX)) {
  const entryPoints = [join(root, 'packages/db/src/storage/opfs', file)]
  limit(file, await bytesOf({ entryPoints, plugins: [onDemandIsExternal] }), allowed)
}
for (const [file, allowed] of Object.entries(RULES_BYTES_MAX)) {
  const entryPoints = [join(root, 'packages/rules/src', file)]
  limit(`@pannier/rules ${file}`, await bytesOf({ entryPoints }), allowed, RULES_BYTES_GOAL)
}
const client = {
  entryPoints: [join(root, 'packages/client/src/index.ts')],
  external: ['pannier'],
  plugins: [onDemandIsExternal],
}
limit('@pannier/client', await bytesOf(client), CLIENT_BYTES_MAX)
for (const [name, { prefix, app, all }] of Object.entries(BINDINGS)) {
  const entry = join(root, 'packages', name, 'src/index.ts')
  const external = ['pannier', ...FRAMEWORKS]
  const names = APP_FUNCTIONS.map((suffix) => prefix + suffix).join()
  const appStdin = { contents: `export { ${names} } from '${entry}'`, resolveDir: root }
  limit(`@pannier/${name} for an app of a server`, await bytesOf({ stdin: appStdin, external }), app)
  limit(`@pannier/${name}`, await bytesOf({ entryPoints: [entry], external }), all)
}
const tanstackDb = {
  entryPoints: [join(root, 'packages/tanstack-db/src/index.ts')],
  external: ['pannier', '@tanstack/db'],
}
limit('@pannier/tanstack-db', await bytesOf(tanstackDb), TANSTACK_DB_BYTES_MAX)
const sqliteStorage = { entryPoints: [join(root, 'packages/sqlite-storage/src/index.ts')], external: ['pannier'] }
limit('@pannier/sqlite-storage', await bytesOf(sqliteStorage), SQLITE_STORAGE_BYTES_MAX)
for (const [file, allowed] of Object.entries(DEVTOOLS_BYTES_MAX)) {
  const entryPoints = [join(root, 'packages/devtools/src', file)]
  const options = { entryPoints, external: ['pannier'], plugins: [onDemandIsExternal] }
  limit(`@pannier/devtools ${file}`, await bytesOf(options), allowed)
}
const pouchdb = {
  entryPoints: [join(root, 'packages/pouchdb/src/index.ts')],
  external: ['pannier', 'pouchdb-collate', 'pouchdb-errors', 'pouchdb-selector-core', 'pouchdb-utils'],
}
limit('pouchdb-adapter-pannier', await bytesOf(pouchdb), POUCHDB_BYTES_MAX)
const admin = await buildAdminPage()
const adminBytes = admin.first.reduce((sum, name) => sum + admin.files.get(name)!.length, 0)
limit('first load of the admin page', adminBytes, ADMIN_FIRST_BYTES_MAX)
if (process.argv.includes('--layers')) await printLayers()

function fileOf(path: string, importer: string): string {
  if (path === 'pannier') return 'src/index.js'
  if (path === '#default-storage') return 'src/storage/indexeddb/indexeddb.js'
  if (path === '#crypto-platform') return 'src/database/encryption/web-platform.js'
  return join(importer, '..', path)
}

async function bytesOf(options: BuildOptions): Promise<number> {
  const { outputFiles } = await build({ ...OPTIONS, ...options })
  return gzipSync(outputFiles![0]!.contents, { level: 9 }).length
}

async function checkChunks(): Promise<void> {
  const { metafile } = await build({ ...OPTIONS, splitting: true, stdin, plugins: [fromMemory] })
  const chunks = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint !== '<stdin>')
  const small = chunks.filter(({ bytes }) => bytes < CHUNK_BYTES_MIN)
  console.log(
    `= ${chunks.length} chunks by esbuild (allowed ${CHUNKS_MAX}), ${small.length} of them under 2 KiB (allowed ${SMALL_CHUNKS_MAX})`,
  )
  if (chunks.length <= CHUNKS_MAX && small.length <= SMALL_CHUNKS_MAX) return
  console.error('More chunks, or smaller ones, than allowed.')
  process.exitCode = 1
}

/** Prints the layers of the same modules before they are joined. */
async function printLayers(): Promise<void> {
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: [join(root, 'packages/db/src/index.ts')],
    plugins: [onDemandIsExternal],
  })
  const layers = new Map<string, number>()
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const layer = path.split('/')[3] ?? path
      layers.set(layer, (layers.get(layer) ?? 0) + bytesInOutput)
    }
  for (const [layer, bytes] of [...layers].sort(([, a], [, b]) => b - a))
    console.log(`=   ${kibibytes(bytes).padStart(5)} KiB minified  ${layer}`)
}

function limit(what: string, bytes: number, allowed: number, goal?: number): void {
  const aim = goal === undefined ? '' : `, goal ${kibibytes(goal)}`
  console.log(
    `= ${kibibytes(bytes).padStart(5)} KiB ${what}, minified and compressed (allowed ${kibibytes(allowed)}${aim})`,
  )
  if (bytes <= allowed) return
  console.error(`${what} is ${Math.ceil(bytes - allowed)} bytes too large.`)
  process.exitCode = 1
}

function kibibytes(count: number): string {
  return (count / 1024).toFixed(1)
}
