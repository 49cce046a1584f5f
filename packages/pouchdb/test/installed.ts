/** Packages of PouchDB that only tests and measurements use: ours, or those of bench. */
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
export const installed: readonly NodeJS.Require[] = [root, join(root, 'bench')].map((folder) =>
  createRequire(join(folder, 'package.json')),
)

export function load(name: string): unknown {
  for (const require of installed) {
    try {
      const found = require(name) as { readonly default?: unknown }
      return found.default ?? found
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(`${name} is not installed: run npm ci in bench.`)
}
