/** The files of the page, made once: what is served, or written by a static build, is exactly this list. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { OutputFile, Plugin } from 'esbuild'
import { CONTENDERS } from '../../contenders/catalog.ts'
import { packageVersions } from '../../harness/environment.ts'

export interface Asset {
  readonly type: string
  readonly body: Uint8Array
}

const PAGE = join(import.meta.dirname, '..', 'page')
/** Looked for beside the script of the page. */
const OPFS_WORKER = '../../../packages/db/src/storage/opfs/opfs-worker.ts'
const CURRENT = join(import.meta.dirname, '..', '..', 'results', 'current')
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
}

/** By name. `results`: the folder with the result files that every visitor sees. */
export async function makeAssets(results: string = CURRENT): Promise<ReadonlyMap<string, Asset>> {
  const built = await Promise.all([
    bundle(['main.ts', 'style.css'], true),
    // In one piece each: nothing is to be fetched while it is measured.
    bundle(['frame.ts', 'worker.ts', OPFS_WORKER], false),
  ])
  const assets = new Map<string, Asset>()
  const add = (name: string, body: Uint8Array): void =>
    void assets.set(name, { type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream', body })
  for (const { path, contents } of built.flat()) add(path.slice(path.lastIndexOf('/') + 1), contents)
  for (const name of ['index.html', 'frame.html', 'favicon.svg']) add(name, await readFile(join(PAGE, name)))
  const names = globSync('*.json', { cwd: results }).sort()
  const files = await Promise.all(names.map((name) => readFile(join(results, name), 'utf8')))
  add('stored.json', Buffer.from(`[${files.map((text) => text.trim()).join(',\n')}]`))
  return assets
}

async function bundle(names: readonly string[], splitting: boolean): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    entryPoints: names.map((name) => join(PAGE, name)),
    outdir: '/',
    bundle: true,
    splitting,
    minify: true,
    keepNames: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['pannier-source', 'browser'],
    // TypeScript's `using` is lowered, as not every engine knows it.
    supported: { using: false },
    loader: { '.wasm': 'binary' },
    define: { LAB_VERSIONS: JSON.stringify(packageVersions(CONTENDERS)) },
    plugins: [fileExtensions, withoutEval],
    write: false,
    logLevel: 'silent',
  })
  return outputFiles
}

/** echarts-gl names files of ECharts without the extension that their packages ask for. */
const fileExtensions: Plugin = {
  name: 'file extensions',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(zrender|echarts)\/lib\// }, ({ path, resolveDir, kind }) =>
      path.endsWith('.js') ? undefined : resolve(`${path}.js`, { resolveDir, kind }),
    )
  },
}

/** The one place of the chart library that compiles text. */
const withoutEval: Plugin = {
  name: 'without eval',
  setup({ onLoad }) {
    onLoad({ filter: /claygl\/src\/createCompositor\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const changed = source.replace(/new Function\([^;]*exprRes\[1\]\)/, 'compileSizes(exprRes[1])')
      if (changed === source) throw new Error(`${path} is not what it was: see lab/page/sizes.ts`)
      return { contents: `import { compileSizes } from ${JSON.stringify(join(PAGE, 'sizes.ts'))}\n${changed}` }
    })
  },
}
