/** Makes the pages as Vite makes them of an app: as few first files as it can, the rest on demand. Each app has a page of its own. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, defaultClientConditions } from 'vite'
import type { InlineConfig, Rolldown } from 'vite'
import { assetOf, bundleAssets } from '../../tools/web/bundle.ts'
import type { Asset } from '../../tools/web/bundle.ts'

const PAGE = join(import.meta.dirname, 'page')

/** Files by app and name, compressed; the page that fills databases is one more app. */
export type Pages = ReadonlyMap<string, ReadonlyMap<string, Asset>>

/** `published`: Pannier as it is published, which `npm run build` makes; else of its sources. */
export async function makePages(apps: readonly string[], published: boolean): Promise<Pages> {
  const pages = new Map<string, ReadonlyMap<string, Asset>>()
  pages.set('fill', compress(await bundlePage('fill.html', {}, published)))
  for (const app of apps) {
    const alias = { 'measured-app': join(import.meta.dirname, 'apps', `${app}.ts`) }
    const files = await bundlePage('index.html', alias, published)
    pages.set(app, compress([...files, ...(await bundleServiceWorker([...files.keys()]))]))
  }
  return pages
}

async function bundlePage(
  html: string,
  alias: Readonly<Record<string, string>>,
  published: boolean,
): Promise<Map<string, Asset>> {
  const config: InlineConfig = {
    configFile: false,
    root: PAGE,
    base: './',
    publicDir: false,
    logLevel: 'error',
    resolve: { alias, conditions: [...(published ? [] : ['pannier-source']), ...defaultClientConditions] },
    worker: { format: 'es' },
    build: { write: false, rolldownOptions: { input: join(PAGE, html) } },
  }
  const { output } = (await build(config)) as Rolldown.RolldownOutput
  return new Map(
    output.map((file) => {
      const body = Buffer.from(file.type === 'chunk' ? file.code : file.source)
      const name = file.fileName === html ? '' : file.fileName
      return [name, assetOf(file.fileName, body)]
    }),
  )
}

function compress(files: Iterable<readonly [name: string, Asset]>): ReadonlyMap<string, Asset> {
  return new Map(Array.from(files, ([name, { type, body }]) => [name, { type, body: gzipSync(body, { level: 9 }) }]))
}

function bundleServiceWorker(files: readonly string[]): Promise<[name: string, Asset][]> {
  const names = files.map((name) => `./${name}`)
  return bundleAssets(PAGE, ['service-worker.ts'], { define: { FILES: JSON.stringify(names) } })
}
