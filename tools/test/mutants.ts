/**
 * Mutants: modules whose source is changed in one place, for tests that must fail then. `importAgain` loads a module and what it imports
 * from some folders once more, with the change or as it is. Nothing is written to disk, and other tests keep their modules.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from '../checks/packages.ts'

/** One change of the source. */
export interface Mutation {
  /** From the root of the workspace. */
  readonly file: string
  /** The text to replace, which must be in the file once. */
  readonly text: string
  readonly replacement: string
}

/** How modules are loaded once more. */
interface Again {
  readonly mutation?: Mutation
  /** Modules in these folders are loaded once more. */
  readonly folders: readonly string[]
}

const QUERY = '?again='
/** A module's URL has the place in this list. */
const loads: Again[] = []

/** Loads a module, with a mutation in what it imports. Paths are from the root of the workspace. */
export function importMutant<Module>(file: string, mutation: Mutation, folders: readonly string[]): Promise<Module> {
  const place = loads.findIndex((load) => load.mutation === mutation && load.folders === folders)
  return load<Module>(file, place === -1 ? loads.push({ mutation, folders }) - 1 : place)
}

/** Loads a module and what it imports from the folders as a new process would. Paths are from the root of the workspace. */
export function importAgain<Module>(file: string, folders: readonly string[]): Promise<Module> {
  return load<Module>(file, loads.push({ folders }) - 1)
}

function load<Module>(file: string, place: number): Promise<Module> {
  return import(`${pathToFileURL(join(root, file)).href}${QUERY}${place}`) as Promise<Module>
}

/** Makes Node load modules once more. */
export function hookMutants(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const place = context.parentURL?.split(QUERY)[1]
      if (place === undefined || !resolved.url.startsWith('file:') || resolved.url.includes(QUERY)) return resolved
      const file = fileOf(resolved.url)
      const isAgain = loads[Number(place)]!.folders.some((folder) => file.startsWith(folder))
      return isAgain ? { ...resolved, url: resolved.url + QUERY + place } : resolved
    },
    load(url, context, nextLoad) {
      const [path = '', place] = url.split(QUERY)
      if (place === undefined) return nextLoad(url, context)
      const loaded = nextLoad(path, context)
      const { mutation } = loads[Number(place)]!
      if (mutation === undefined || fileOf(path) !== mutation.file) return loaded
      const source = (loaded.source as Buffer | string).toString()
      const at = placeOf(mutation, source)
      return {
        ...loaded,
        source: source.slice(0, at) + mutation.replacement + source.slice(at + mutation.text.length),
      }
    },
  })
}

/** @throws Error where the source has changed, so that a mutation can't be made any more */
export function checkPlaces(mutations: readonly Mutation[]): void {
  for (const mutation of mutations) placeOf(mutation, readFileSync(join(root, mutation.file), 'utf8'))
}

/** Where the text stands. */
export function placeOf({ file, text }: Mutation, source: string): number {
  const count = source.split(text).length - 1
  if (count !== 1) throw new Error(`A mutant needs the text once in ${file}, found it ${count} times: ${text}`)
  return source.indexOf(text)
}

/** From the root of the workspace. */
function fileOf(url: string): string {
  return relative(root, fileURLToPath(url))
}
