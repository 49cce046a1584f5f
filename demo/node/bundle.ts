/** Bundles the files of the demo's pages. */
import { join } from 'node:path'
import { bundleAssets, readAssets } from '../../tools/web/bundle.ts'
import type { Asset } from '../../tools/web/bundle.ts'

const FOLDER = join(import.meta.dirname, '..')

/** The page of the cities, that of the tasks below `tasks/`, and that of the team below `team/`; by path below that of the page. */
export async function bundlePage(): Promise<ReadonlyMap<string, Asset>> {
  const [cities, tasks, team] = await Promise.all([
    pageOf(join(FOLDER, 'page'), ['main.ts', 'service-worker.ts', 'style.css']),
    pageOf(join(FOLDER, 'tasks', 'page'), ['main.ts', 'style.css']),
    pageOf(join(FOLDER, 'team', 'page'), ['main.ts', 'style.css']),
  ])
  return new Map([...cities, ...below('tasks', tasks), ...below('team', team)])
}

function below(path: string, assets: readonly [name: string, Asset][]): [string, Asset][] {
  return assets.map(([name, asset]) => [`${path}/${name}`, asset])
}

async function pageOf(folder: string, entries: readonly string[]): Promise<[name: string, Asset][]> {
  const made = await Promise.all([bundleAssets(folder, entries), readAssets(folder, ['index.html'])])
  return made.flat().map(([name, asset]) => [name === 'index.html' ? '' : name, asset])
}
