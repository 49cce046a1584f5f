/** Bundles the files of the demo's page. */
import { join } from 'node:path'
import { bundleAssets, readAssets } from '../../tools/web/bundle.ts'
import type { Asset } from '../../tools/web/bundle.ts'

const PAGE = join(import.meta.dirname, '..', 'page')

/** By path below that of the page. */
export async function bundlePage(): Promise<ReadonlyMap<string, Asset>> {
  const made = await Promise.all([
    bundleAssets(PAGE, ['main.ts', 'service-worker.ts', 'style.css']),
    readAssets(PAGE, ['index.html']),
  ])
  return new Map(made.flat().map(([name, asset]) => [name === 'index.html' ? '' : name, asset]))
}
