/** Exports of the published sources that nobody imports, or that only tests import. */
import { join, relative } from 'node:path'
import type { Module } from './module-graph.ts'
import { PACKAGES, root } from './packages.ts'

export interface UnusedExports {
  readonly byNobody: string[]
  readonly byTestsOnly: string[]
}

/** Loaded by name: by Node, by a page's script or by the compiler. */
const STARTED = /\/(?:main|script|wl|opfs-worker)\.tsx?$|\/cli\/program\.ts$/

export function unusedExports(modules: ReadonlyMap<string, Module>): UnusedExports {
  const entries = new Set(
    PACKAGES.flatMap(({ folder, entries: list }) => list.map(({ source }) => relative(root, join(folder, source)))),
  )
  const importers = importersOf(modules)
  const found: UnusedExports = { byNobody: [], byTestsOnly: [] }
  for (const { path, exports } of modules.values()) {
    if (!/^packages\/[^/]+\/src\//.test(path) || entries.has(path) || STARTED.test(path)) continue
    for (const name of exports) {
      const users = importers.get(`${path} ${name}`) ?? []
      if (users.length === 0) found.byNobody.push(`${path} ${name}`)
      else if (users.every(isTest)) found.byTestsOnly.push(`${path} ${name}`)
    }
  }
  return found
}

/**
 * By path and name of the export. What `import()` gives may be handed on: then a name counts as imported if its file has the word, or
 * some source takes it as a member.
 */
function importersOf(modules: ReadonlyMap<string, Module>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  const members = new Set<string>()
  for (const { path, text } of modules.values()) {
    if (isTest(path)) continue
    for (const [, name] of text.matchAll(/\.(\w+)/g)) members.add(name!)
    for (const [, names] of text.matchAll(/\{([\w\s,]+)\} =/g))
      for (const name of names!.split(',')) members.add(name.trim())
  }
  for (const { path, text, imports } of modules.values()) {
    const words = new Set(text.match(/[\w$]+/g))
    for (const { target, names } of imports) {
      for (const name of modules.get(target)?.exports ?? []) {
        if (names === undefined ? !words.has(name) && !members.has(name) : !names.includes(name)) continue
        importers.set(`${target} ${name}`, [...(importers.get(`${target} ${name}`) ?? []), path])
      }
    }
  }
  return importers
}

function isTest(path: string): boolean {
  return /\/(?:test|testing)\/|^tools\//.test(path)
}
