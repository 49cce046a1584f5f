/** The files of a page, made at start and kept in memory. The server serves exactly this list. */
import { readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions, Plugin } from 'esbuild'

export interface Asset {
  readonly type: string
  readonly body: Uint8Array
}

export const PAGE_BUILD: BuildOptions & { readonly write: false } = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  conditions: ['pannier-source', 'browser'],
  // TypeScript's `using` is lowered, as not every engine knows it.
  supported: { using: false },
  loader: { '.wasm': 'binary' },
  logLevel: 'silent',
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.wasm': 'application/wasm',
}

export function assetOf(name: string, body: Uint8Array): Asset {
  return { type: TYPES[extname(name)] ?? 'application/octet-stream', body }
}

/** Components of Vue and Svelte, by their own compilers. */
export const components: Plugin = {
  name: 'components',
  setup({ onLoad }) {
    onLoad({ filter: /\.vue$/ }, async ({ path }) => {
      const { compileScript, parse } = await import('vue/compiler-sfc')
      const { descriptor } = parse(await readFile(path, 'utf8'), { filename: path })
      return { loader: 'ts', contents: compileScript(descriptor, { id: path, inlineTemplate: true }).content }
    })
    onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const { compile } = await import('svelte/compiler')
      return { contents: compile(await readFile(path, 'utf8'), { filename: path, generate: 'client' }).js.code }
    })
  },
}

/** Scripts and styles, minified, by name. */
export async function bundleAssets(
  folder: string,
  entries: readonly string[],
  options: BuildOptions = {},
): Promise<[name: string, Asset][]> {
  const entryPoints = entries.map((name) => join(folder, name))
  const { outputFiles } = await build({
    ...PAGE_BUILD,
    entryPoints,
    outdir: '/',
    minify: true,
    ...options,
    write: false,
  })
  return outputFiles.map(({ path, contents }) => [basename(path), assetOf(path, contents)])
}

/** Files as they are, by name; the icon is the same for all pages. */
export function readAssets(folder: string, names: readonly string[]): Promise<[name: string, Asset][]> {
  const paths = [...names.map((name) => join(folder, name)), join(import.meta.dirname, 'favicon.svg')]
  return Promise.all(
    paths.map(async (path): Promise<[string, Asset]> => [basename(path), assetOf(path, await readFile(path))]),
  )
}
