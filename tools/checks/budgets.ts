/**
 * Budgets of the sources of each package. A budget has an owner: the decision that allows its numbers, and says what they buy. So nobody
 * raises one without writing down why: the numbers stand in that decision.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Module } from './module-graph.ts'
import { root } from './packages.ts'

interface Budget {
  readonly files: number
  readonly lines: number
  /** The number of the decision. */
  readonly adr: number
}

export const BUDGETS: Readonly<Record<string, Budget>> = {
  db: { files: 384, lines: 57_927, adr: 54 },
  rules: { files: 34, lines: 4300, adr: 54 },
  backend: { files: 315, lines: 38_221, adr: 54 },
  server: { files: 232, lines: 22_910, adr: 54 },
  admin: { files: 228, lines: 23_000, adr: 54 },
  client: { files: 30, lines: 4250, adr: 54 },
  jsonstore: { files: 28, lines: 3600, adr: 54 },
  pocketbase: { files: 35, lines: 4659, adr: 54 },
  postgres: { files: 14, lines: 3200, adr: 54 },
  stores: { files: 8, lines: 800, adr: 56 },
  react: { files: 6, lines: 250, adr: 56 },
  vue: { files: 5, lines: 280, adr: 56 },
  svelte: { files: 5, lines: 280, adr: 56 },
  solid: { files: 5, lines: 280, adr: 56 },
  angular: { files: 5, lines: 290, adr: 56 },
  'tanstack-db': { files: 7, lines: 785, adr: 54 },
  devtools: { files: 26, lines: 3150, adr: 58 },
  'sqlite-storage': { files: 8, lines: 730, adr: 54 },
  pouchdb: { files: 34, lines: 2460, adr: 54 },
}

/** The files of a package's sources, and the sum of their lines. */
export function sizeOf(
  modules: ReadonlyMap<string, Pick<Module, 'path' | 'text'>>,
  name: string,
): { readonly paths: readonly string[]; readonly lines: number } {
  const files = [...modules.values()].filter(({ path }) => path.startsWith(`packages/${name}/src/`))
  const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  return { paths: files.map(({ path }) => path), lines }
}

/** Budgets whose decision does not have their numbers, and packages without a budget. */
export function unownedBudgets(read: (adr: number) => string = textOf): string[] {
  const names = globSync('packages/*/src', { cwd: root }).map((path) => path.split('/')[1]!)
  const without = names.filter((name) => !Object.hasOwn(BUDGETS, name)).map((name) => `packages/${name}: no budget`)
  const unowned = Object.entries(BUDGETS).flatMap(([name, { files, lines, adr }]) => {
    const text = read(adr)
    const missing = [files, lines].filter((number) => !text.includes(` ${number.toLocaleString('en-US')} `))
    return missing.map((number) => `packages/${name}: ADR ${adr} does not have ${number.toLocaleString('en-US')}`)
  })
  return [...without, ...unowned]
}

function textOf(adr: number): string {
  const [path] = globSync(`docs/adr/${String(adr).padStart(4, '0')}-*.md`, { cwd: root })
  return path === undefined ? '' : readFileSync(join(root, path), 'utf8')
}
