/** Bundles the files of the demo's pages. */
import { join } from 'node:path'
import { bundleAssets, components, readAssets } from '../../tools/web/bundle.ts'
import type { Asset } from '../../tools/web/bundle.ts'

const FOLDER = join(import.meta.dirname, '..')
const FRAMEWORKS = ['react.tsx', 'vue.ts', 'svelte.ts', 'solid.ts', 'angular.ts']

/** A file of a page, or what makes it when somebody asks for it. */
export type PageFile = Asset | (() => Promise<Asset>)

/**
 * The page of the cities, that of the tasks below `tasks/`, that of the team below `team/`, and those in frameworks below `frameworks/`. By
 * path below that of the page.
 */
export async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const [cities, tasks, team, frameworks] = await Promise.all([
    pageOf(join(FOLDER, 'page'), ['main.ts', 'service-worker.ts', 'style.css']),
    pageOf(join(FOLDER, 'tasks', 'page'), ['main.ts', 'style.css']),
    pageOf(join(FOLDER, 'team', 'page'), ['main.ts', 'style.css']),
    pageOf(join(FOLDER, 'frameworks', 'page'), ['main.ts', 'style.css']),
  ])
  const scripts = FRAMEWORKS.map((entry): [string, PageFile] => [entry.replace(/\.\w+$/, '.js'), framework(entry)])
  return new Map([
    ...cities,
    ...below('tasks', tasks),
    ...below('team', team),
    ...below('frameworks', frameworks),
    ...below('frameworks', scripts),
  ])
}

function below(path: string, files: readonly [name: string, PageFile][]): [string, PageFile][] {
  return files.map(([name, file]) => [`${path}/${name}`, file])
}

/** The screens in one framework. They are bundled when a visitor looks at them, as their compilers take a while to load. */
function framework(entry: string): () => Promise<Asset> {
  let made: Promise<Asset> | undefined
  const make = async (): Promise<Asset> => {
    const [[, asset] = []] = await bundleAssets(join(FOLDER, 'frameworks'), [entry], { plugins: [components] })
    return asset!
  }
  return () => (made ??= make())
}

async function pageOf(folder: string, entries: readonly string[]): Promise<[name: string, Asset][]> {
  const made = await Promise.all([bundleAssets(folder, entries), readAssets(folder, ['index.html'])])
  return made.flat().map(([name, asset]) => [name === 'index.html' ? '' : name, asset])
}
