/**
 * Checks what would be published. publint finds no problem. Every entry loads from the build in Node, and
 * bundles for a browser without Node's modules. `pannier/testing` contains only what it exports. The types of each entry resolve for Node
 * and for bundlers. They compile with the library of ES2022 where users check them too (`skipLibCheck: false`).
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { run } from '../processes.ts'
import { readModules } from './module-graph.ts'
import { pack, type Packed } from './pack.ts'
import { PACKAGES, root, type PublishedPackage } from './packages.ts'

/** Entries that only Node has a use for. */
const NODE_ONLY = [
  'pannier/sqlite',
  '@pannier/backend',
  '@pannier/backend/internal',
  '@pannier/server',
  '@pannier/server/cli',
  '@pannier/postgres',
  '@pannier/pocketbase',
]
/** Entries without a value. */
const TYPES_ONLY = ['pannier/types']
/** How a program of users finds modules. Packages are modules: nobody gets at their types with `require`, or as before Node 16. */
const RESOLUTIONS = [
  ['--module', 'nodenext'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
]
const OUR_ERROR = new RegExp(`^(index\\.ts|node_modules/(${PACKAGES.map(({ name }) => name).join('|')})/).*error TS`)

const modules = readModules()
const problems: string[] = []
const packed = new Map((await pack(join(root, 'dist/packed'))).map((one) => [one.name, one]))
for (const published of PACKAGES) {
  const { tarball, files } = packed.get(published.name)!
  const bytes = new Uint8Array(await readFile(tarball))
  await checkManifest(published, bytes.buffer)
  checkTesting(published, files)
  await checkBrowser(published)
}
await checkNode()
await checkDeclarations()
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

async function checkManifest({ name }: PublishedPackage, tarball: ArrayBuffer): Promise<void> {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball } })
  for (const message of messages) problems.push(`publint, ${name}: ${formatMessage(message, pkg, { color: false })}`)
}

/** The sources and what is built of them: those that the entry imports, all of them, and no others. */
function checkTesting({ name, folder, entries }: PublishedPackage, files: Packed['files']): void {
  const published = files.flatMap((path) => /^(?:dist\/)?(testing\/.*?)(?:\.d)?\.(?:ts|js)$/.exec(path)?.[1] ?? [])
  const entry = entries.find((one) => one.name === 'testing')
  const imported = entry === undefined ? [] : reachedFrom(relative(root, join(folder, entry.source)))
  const wanted = imported.map((path) => relative(folder, join(root, path)).replace(/\.ts$/, ''))
  const testing = new Set(wanted.filter((path) => path.startsWith('testing/')))
  for (const path of new Set(published))
    if (!testing.delete(path)) problems.push(`${name} publishes ${path}, which its entry does not need`)
  for (const path of testing) problems.push(`${name} does not publish ${path}`)
}

function reachedFrom(entry: string): readonly string[] {
  const reached = new Set([entry])
  for (const path of reached) for (const { target } of modules.get(path)?.imports ?? []) reached.add(target)
  return [...reached].filter((path) => modules.has(path))
}

/**
 * Checks the declarations of all entries in one program for each way to resolve modules. The packages are as npm installs them. Errors in
 * declarations of others are ignored: what is wrong there is not ours.
 */
async function checkDeclarations(): Promise<void> {
  const folder = join(root, 'dist/declarations')
  const specifiers = PACKAGES.flatMap(({ entries }) => entries.map(({ specifier }) => specifier))
  const imports = specifiers.map((specifier, at) => `export * as entry${at} from '${specifier}'\n`)
  await rm(folder, { recursive: true, force: true })
  for (const { name, tarball } of packed.values()) {
    const installed = join(folder, 'node_modules', name)
    await mkdir(installed, { recursive: true })
    const { code, output } = await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed])
    if (code !== 0) throw new Error(`tar:\n${output}`)
  }
  await writeFile(join(folder, 'index.ts'), imports.join(''))
  const library = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', 'node']
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', 'false', ...library, 'index.ts']
  for (const resolution of RESOLUTIONS) {
    const { output } = await run(join(root, 'node_modules/.bin/tsc'), [...resolution, ...options], { cwd: folder })
    const ours = output.split('\n').filter((line) => OUR_ERROR.test(line))
    for (const line of ours) problems.push(`tsc ${resolution.join(' ')}: ${line}`)
  }
}

/** Without the condition that leads to the sources. All entries load in one process. */
async function checkNode(): Promise<void> {
  const specifiers = PACKAGES.flatMap(({ entries }) => entries.map(({ specifier }) => specifier))
  const script = `
    for (const specifier of ${JSON.stringify(specifiers)}) {
      const isEmpty = Object.keys(await import(specifier)).length === 0
      if (isEmpty !== ${JSON.stringify(TYPES_ONLY)}.includes(specifier)) throw new Error(specifier + ': nothing exported')
    }`
  const { code, output } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: root })
  if (code !== 0) problems.push(`An entry does not load in Node:\n${output}`)
}

async function checkBrowser({ entries, folder }: PublishedPackage): Promise<void> {
  for (const { specifier } of entries) {
    if (NODE_ONLY.includes(specifier)) continue
    const stdin = { contents: `export * from ${JSON.stringify(specifier)}`, resolveDir: folder }
    try {
      await build({ stdin, bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'silent' })
    } catch (error) {
      problems.push(`${specifier} does not bundle for browsers:\n${(error as Error).message}`)
    }
  }
}
