/** Loads the hook files of a folder: ES modules in TypeScript or JavaScript, each with a function as its default export. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Backend } from '@pannier/backend'
import { badArgument } from 'pannier/internal'
import { HookRegistration, sourceIn, type HookSet } from './hook-set.ts'
import type { Hooks } from './hook-types.ts'

const FILE = /\.(?:ts|mts|js|mjs)$/
const IGNORED = /\.d\.ts$|^[._]|\.test\.\w+$/
const GENERATION = 'generation'

/** A file that can't be loaded. The message names it, with a line where one is known. */
export class HookFileError extends Error {
  constructor(place: string, cause: unknown) {
    super(`${place}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'HookFileError'
  }
}

let generations = 0

/** Files run in the order of their names, those of `pbHooks` last. Each load runs them again. @throws HookFileError */
export async function loadHooks(
  folder: string | undefined,
  backend: Backend,
  pbHooks: string | undefined,
): Promise<HookSet> {
  const { hooks, set, end } = new HookRegistration(backend, (folder ?? pbHooks)!)
  if (folder !== undefined && existsSync(folder)) await loadFiles(folder, backend.hooks, hooks)
  const close =
    pbHooks !== undefined && existsSync(pbHooks) ? await bindPbHooks(pbHooks, hooks, backend) : async () => {}
  end()
  return { ...set, close }
}

async function loadFiles(folder: string, running: Backend['hooks'], hooks: Hooks): Promise<void> {
  const generation = ++generations
  const root = pathToFileURL(`${folder}/`).href
  // What the files import from the folder is loaded again with them.
  const resolution = registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context)
      const isOurs = resolved.url.startsWith(root) && !resolved.url.includes('/node_modules/')
      if (!isOurs || context.parentURL?.includes(`?${GENERATION}=${generation}`) !== true) return resolved
      return { ...resolved, url: versioned(resolved.url, generation) }
    },
  })
  try {
    for (const name of await fileNames(folder)) {
      const source = `${basename(folder)}/${name}`
      const load = (): Promise<void> => run(join(folder, name), folder, generation, hooks)
      await running.begin({ name: 'export default', handler: load, source }, load)
    }
  } finally {
    resolution.deregister()
  }
}

/** Hooks of PocketBase, as they are. Their package is loaded with the first folder of them. @throws HookFileError */
async function bindPbHooks(folder: string, hooks: Hooks, backend: Backend): Promise<HookSet['close']> {
  const { bindPocketBaseHooks } = await import('@pannier/pocketbase')
  try {
    return (await bindPocketBaseHooks(folder, hooks, backend)).close
  } catch (error) {
    const place = error instanceof Error ? sourceIn(folder, error) : folder
    throw new HookFileError(place === folder ? basename(folder) : place, error)
  }
}

async function fileNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && FILE.test(entry.name) && !IGNORED.test(entry.name))
    .map(({ name }) => name)
    .sort()
}

async function run(path: string, folder: string, generation: number, hooks: Hooks): Promise<void> {
  try {
    const module = (await import(versioned(pathToFileURL(path).href, generation))) as { readonly default?: unknown }
    const { default: register } = module
    if (typeof register !== 'function')
      throw badArgument('export default', 'a hook file must export a function', register)
    await (register as (hooks: Hooks) => unknown)(hooks)
  } catch (error) {
    const place = error instanceof Error ? sourceIn(folder, error) : folder
    throw new HookFileError(place === folder ? `${basename(folder)}/${basename(path)}` : place, error)
  }
}

function versioned(url: string, generation: number): string {
  return `${url.replace(/\?.*$/, '')}?${GENERATION}=${generation}`
}
