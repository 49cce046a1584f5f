/**
 * The published form of the library: its modules joined into a few files. So bundlers make few chunks, and pages without a bundler load
 * few files. `core.js` and `base.js` are what `open` imports statically; each feature has a file that is loaded on first use.
 * Declarations stay beside the modules that they describe.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown, type InputOptions, type OutputChunk, type OutputOptions } from 'rolldown'
import { root } from './packages.ts'

const folder = join(root, 'packages/db')
const source = join(folder, 'src')
const INDEX = join(source, 'index.ts')
/** Found by their address: beside one another, as `opfs.ts` names the script of its worker. */
const FURTHER_ENTRIES = ['src/storage/opfs/opfs.ts', 'src/storage/opfs/opfs-worker.ts']

/** One file with everything, for service workers; what is platform's is the browser's there. */
const ALL = 'src/all'
const OF_BROWSERS: Readonly<Record<string, string>> = {
  '#default-storage': join(source, 'storage/indexeddb/indexeddb.ts'),
  '#crypto-platform': join(source, 'database/encryption/web-platform.ts'),
}

/** Features that are small: revisions, lists, local documents, transactions, migrations, the feed of changes. */
const SMALL = 'documents'

const LIVE = 'live'

/** Features by what is imported on demand; the first that fits. */
const FEATURES: readonly (readonly [name: string, targets: RegExp])[] = [
  [SMALL, /^kv\/held-transaction/],
  ['encryption', /^database\/encryption\//],
  ['search', /^(query\/search|index\/text)\//],
  ['aggregates', /^query\/aggregate\//],
  [LIVE, /^database\/.*live-watcher/],
  ['views', /^(view\/|kv\/reduce-range|.*private-rows)/],
  ['queries', /^(query|index)\/|duplicates|complete-collection/],
  ['relations', /^relations\/|related-writes/],
  ['replication', /^database\/replication\//],
  ['checks', /^(database\/check\/|kv\/check)/],
  ['transfer', /^(database\/(transfer|lifecycle)|kv)\//],
  ['attachments', /attach/],
]
/** Stays beside the entries that need it. */
const OF_ENTRIES = /^storage\/(?!encrypted)/
/** The file of modules that several features need. */
const SHARED = 'shared'

const INPUT: InputOptions = {
  cwd: folder,
  platform: 'neutral',
  external: /^(#|node:)/,
  treeshake: { moduleSideEffects: false },
  transform: { target: 'es2024' },
  preserveEntrySignatures: 'allow-extension',
  checks: { ineffectiveDynamicImport: false },
}

export interface JoinedFile {
  /** From `dist`. */
  readonly fileName: string
  readonly code: string
  readonly map: string | undefined
}

interface Imports {
  readonly always: readonly string[]
  readonly onDemand: readonly string[]
}

/** The library's files for `dist`, in memory. */
export async function joinModules(output: OutputOptions = {}): Promise<readonly JoinedFile[]> {
  const groups = await groupsOfModules()
  const bundle = await rolldown({ ...INPUT, input: entries() })
  const { output: files } = await bundle.generate({
    format: 'esm',
    // Declarations have the docstrings. Without them a process loads the library in two thirds of the time.
    comments: { jsdoc: false },
    entryFileNames: '[name].js',
    chunkFileNames: 'src/[name].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [...new Set(groups.values())].map((name) => ({ name, test: (id) => groups.get(id) === name })),
    },
    ...output,
  })
  return [...withoutRuntime(files.filter((file) => file.type === 'chunk')), await allInOne(output)]
}

async function allInOne(output: OutputOptions): Promise<JoinedFile> {
  const bundle = await rolldown({
    ...INPUT,
    external: /^node:/,
    resolve: { alias: OF_BROWSERS },
    input: { [ALL]: join(folder, `${ALL}.ts`) },
  })
  const { output: files } = await bundle.generate({
    format: 'esm',
    comments: { jsdoc: false },
    entryFileNames: '[name].js',
    codeSplitting: false,
    ...output,
  })
  const [{ fileName, code, map }] = files
  return { fileName, code, map: map?.toString() }
}

const RUNTIME = 'src/rolldown-runtime.js'
const BASE = 'src/base.js'

/** The bundler's helper in `base.js`: a chunk of its own would be the smallest of all. */
function withoutRuntime(chunks: readonly OutputChunk[]): readonly JoinedFile[] {
  const runtime = chunks.find(({ fileName }) => fileName === RUNTIME)?.code ?? ''
  const [exported = '', name = '', alias = ''] = /^export \{ (\w+) as (\w+) \};$/m.exec(runtime) ?? []
  const imported = `import { ${alias} as ${name} } from "./rolldown-runtime.js";`
  return chunks
    .filter(({ fileName }) => fileName !== RUNTIME)
    .map(({ fileName, code, map }) => ({
      fileName,
      code:
        fileName === BASE
          ? `${code}\n${runtime.replace(exported, `export { ${name} };`)}`
          : code.replace(imported, `import { ${name} } from "./base.js";`),
      map: map?.toString(),
    }))
}

/** In which file a module goes. A feature imports `shared.js`, `core.js` and `base.js` at most, so there are no cycles. */
async function groupsOfModules(): Promise<ReadonlyMap<string, string>> {
  const imports = await importsOfModules()
  const core = staticClosure(imports, INDEX)
  const targets = new Set([...imports.values()].flatMap(({ onDemand }) => onDemand))
  const features = new Map<string, Set<string>>()
  for (const target of targets) {
    const path = relative(source, target)
    const feature = FEATURES.find(([, pattern]) => pattern.test(path))?.[0] ?? SMALL
    for (const id of staticClosure(imports, target)) features.set(id, (features.get(id) ?? new Set()).add(feature))
  }
  const groups = new Map<string, string>()
  for (const [id, needed] of features) {
    // What live queries need is with them, so that a page with a live query loads nothing of other features.
    const only = needed.has(LIVE) ? LIVE : needed.size === 1 ? [...needed][0]! : SHARED
    groups.set(id, only)
  }
  for (const id of core) groups.set(id, /^(base|codec|storage)\//.test(relative(source, id)) ? 'base' : 'core')
  for (const id of Object.values(entries())) groups.delete(id)
  for (const id of groups.keys()) if (!core.has(id) && OF_ENTRIES.test(relative(source, id))) groups.delete(id)
  return groups
}

/** Imports of all modules that an app can load from the main entry. */
async function importsOfModules(): Promise<ReadonlyMap<string, Imports>> {
  const imports = new Map<string, Imports>()
  const bundle = await rolldown({
    ...INPUT,
    input: INDEX,
    plugins: [
      {
        name: 'imports',
        moduleParsed({ id, importedIds, dynamicallyImportedIds }) {
          imports.set(id, { always: importedIds, onDemand: dynamicallyImportedIds })
        },
      },
    ],
  })
  await bundle.generate()
  return imports
}

function staticClosure(imports: ReadonlyMap<string, Imports>, entry: string): ReadonlySet<string> {
  const found = new Set([entry])
  for (const id of found)
    for (const imported of imports.get(id)?.always ?? []) if (imports.has(imported)) found.add(imported)
  return found
}

type Target = string | { readonly [condition: string]: Target }

interface Manifest {
  readonly exports: Readonly<Record<string, Target>>
  readonly imports: Readonly<Record<string, Target>>
}

/** By their paths in `dist`, without an ending: what `exports` and `imports` of package.json lead to. */
function entries(): Record<string, string> {
  const { exports, imports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const targets = [...Object.values(exports), ...Object.values(imports)].flatMap(sourcesOf)
  return Object.fromEntries(
    [...targets, ...FURTHER_ENTRIES]
      .map((path) => [path.slice(0, -'.ts'.length), join(folder, path)] as const)
      .filter(([name]) => name !== ALL),
  )
}

function sourcesOf(target: Target): string[] {
  if (typeof target !== 'string') return Object.values(target).flatMap(sourcesOf)
  return /^\.\/.*(?<!\.d)\.ts$/.test(target) ? [target.slice(2)] : []
}
