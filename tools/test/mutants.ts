/**
 * Mutants: modules whose source is changed in one place, for tests that must fail then. `importMutant` loads a module and what it
 * imports from some folders once more, with the change. Nothing is written to disk, and other tests keep their modules.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { root } from '../checks/packages.ts'

/** One change of the source. */
export interface Mutation {
  /** From the root of the workspace. */
  readonly file: string
  /** It must be there once. */
  readonly text: string
  readonly replacement: string
}

interface Mutant extends Mutation {
  /** Modules in these folders are loaded once more. */
  readonly folders: readonly string[]
}

const QUERY = '?mutant='

/** Loads a module, with a mutation in what it imports. Paths are from the root of the workspace. */
export function importMutant<Module>(file: string, mutation: Mutation, folders: readonly string[]): Promise<Module> {
  const mutant: Mutant = { ...mutation, folders }
  const text = Buffer.from(JSON.stringify(mutant)).toString('base64url')
  return import(/* @vite-ignore */ join(root, file) + QUERY + text) as Promise<Module>
}

/** Makes vitest load mutants. */
export function mutants(): Plugin {
  return {
    name: 'mutants',
    enforce: 'pre',
    async resolveId(source, importer) {
      const query = importer?.split(QUERY)[1]
      if (query === undefined) return undefined
      const resolved = await this.resolve(source, importer!.split('?')[0], { skipSelf: true })
      if (resolved === null || !mutantOf(query).folders.some((folder) => isIn(resolved.id, folder))) return resolved
      return resolved.id + QUERY + query
    },
    load(id) {
      const [path = '', query] = id.split(QUERY)
      if (query === undefined) return undefined
      const source = readFileSync(path, 'utf8')
      const mutant = mutantOf(query)
      if (path !== join(root, mutant.file)) return source
      const at = placeOf(mutant, source)
      return source.slice(0, at) + mutant.replacement + source.slice(at + mutant.text.length)
    },
  }
}

/** Where the text stands. */
export function placeOf({ file, text }: Mutation, source: string): number {
  const count = source.split(text).length - 1
  if (count !== 1) throw new Error(`A mutant needs the text once in ${file}, found it ${count} times: ${text}`)
  return source.indexOf(text)
}

function mutantOf(query: string): Mutant {
  return JSON.parse(Buffer.from(query, 'base64url').toString()) as Mutant
}

function isIn(path: string, folder: string): boolean {
  return path.startsWith(join(root, folder))
}
