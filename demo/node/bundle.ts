/** The files of the page, made at start and kept in memory: what is served is exactly this list. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

export interface Asset {
  readonly type: string
  readonly body: Uint8Array
}

const PAGE_FOLDER = join(import.meta.dirname, '..', 'page')

/** By path below that of the page. */
export async function bundlePage(): Promise<ReadonlyMap<string, Asset>> {
  const bundle = await build({
    entryPoints: [join(PAGE_FOLDER, 'main.ts'), join(PAGE_FOLDER, 'style.css')],
    outdir: '/',
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['pannier-source', 'browser'],
    // TypeScript's `using` is lowered, as not every engine knows it.
    supported: { using: false },
    write: false,
    logLevel: 'silent',
  })
  const assets = new Map<string, Asset>()
  for (const { path, contents } of bundle.outputFiles) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    assets.set(name, { type: name.endsWith('.css') ? 'text/css' : 'text/javascript', body: contents })
  }
  assets.set('', { type: 'text/html; charset=utf-8', body: await readFile(join(PAGE_FOLDER, 'index.html')) })
  assets.set('favicon.svg', { type: 'image/svg+xml', body: await readFile(join(PAGE_FOLDER, 'favicon.svg')) })
  return assets
}
