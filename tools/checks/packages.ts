/** The packages that are published, and their entries as package.json lists them. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root: string = resolve(import.meta.dirname, '../..')

export interface Entry {
  /** As users import it: `pannier/memory`. */
  readonly specifier: string
  /** A name for files: `memory`; `index` for the main entry. */
  readonly name: string
  /** Path of the TypeScript, from the package's folder. */
  readonly source: string
  /** Path of the declarations that the build makes of it. */
  readonly types: string
}

export interface PublishedPackage {
  readonly name: string
  readonly folder: string
  readonly entries: readonly Entry[]
}

export const PACKAGES: readonly PublishedPackage[] = [
  'packages/db',
  'packages/jsonstore',
  'packages/stores',
  'packages/react',
  'packages/vue',
  'packages/svelte',
  'packages/solid',
  'packages/angular',
  'packages/rules',
  'packages/postgres',
  'packages/sqlite-storage',
  'packages/backend',
  'packages/pocketbase',
  'packages/server',
  'packages/client',
  'packages/tanstack-db',
  'packages/devtools',
  'packages/pouchdb',
].map(readPackage)

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

function readPackage(path: string): PublishedPackage {
  const folder = join(root, path)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const entries: Entry[] = []
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue
    const { 'pannier-source': source = '', types = '' } = target
    const name = subpath === '.' ? 'index' : subpath.slice(2)
    entries.push({ specifier: `${manifest.name}${subpath.slice(1)}`, name, source, types })
  }
  return { name: manifest.name, folder, entries }
}
