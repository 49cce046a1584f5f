/** The files of the page, made once: what is served, or written by a static build, is exactly this list. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { CONTENDERS } from '../../contenders/catalog.ts'
import { packageVersions } from '../../harness/environment.ts'

export interface Asset {
  readonly type: string
  readonly body: Uint8Array
}

const PAGE = join(import.meta.dirname, '..', 'page')
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
  const built = await build({
    entryPoints: ['main.ts', 'frame.ts', 'worker.ts', 'style.css'].map((name) => join(PAGE, name)),
    outdir: '/',
    bundle: true,
    splitting: true,
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
    plugins: [fileExtensions],
    write: false,
    logLevel: 'silent',
  })
  const assets = new Map<string, Asset>()
  const add = (name: string, body: Uint8Array): void =>
    void assets.set(name, { type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream', body })
  for (const { path, contents } of built.outputFiles) add(path.slice(path.lastIndexOf('/') + 1), contents)
  for (const name of ['index.html', 'frame.html', 'favicon.svg']) add(name, await readFile(join(PAGE, name)))
  const names = globSync('*.json', { cwd: results }).sort()
  const files = await Promise.all(names.map((name) => readFile(join(results, name), 'utf8')))
  add('stored.json', Buffer.from(`[${files.map((text) => text.trim()).join(',\n')}]`))
  return assets
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
