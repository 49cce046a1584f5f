/** Import cycles of the published sources, over static and dynamic imports, types included. Lint sees only the static ones. */
import type { Module } from './module-graph.ts'

/** One text for each group of files that reach one another: a shortest way round. */
export function importCycles(modules: ReadonlyMap<string, Module>): string[] {
  const sources = [...modules.keys()].filter((path) => /^packages\/[^/]+\/src\//.test(path))
  const done = new Set<string>()
  return sources.flatMap((path) => {
    if (done.has(path)) return []
    const round = wayBack(modules, path)
    if (round === undefined) return []
    for (const other of sources) if (reaches(modules, path, other) && reaches(modules, other, path)) done.add(other)
    return [round.join(' → ')]
  })
}

function reaches(modules: ReadonlyMap<string, Module>, from: string, to: string): boolean {
  return wayFrom(modules, from).has(to)
}

function wayBack(modules: ReadonlyMap<string, Module>, start: string): string[] | undefined {
  const before = wayFrom(modules, start)
  if (!before.has(start)) return undefined
  const round = [start]
  for (let at = before.get(start)!; at !== start; at = before.get(at)!) round.unshift(at)
  return [start, ...round]
}

/** Breadth first: what `start` reaches, each with the file before it on a shortest way. */
function wayFrom(modules: ReadonlyMap<string, Module>, start: string): ReadonlyMap<string, string> {
  const before = new Map<string, string>()
  const queue = [start]
  for (const path of queue) {
    for (const { target } of modules.get(path)?.imports ?? []) {
      if (before.has(target) || !modules.has(target)) continue
      before.set(target, path)
      queue.push(target)
    }
  }
  return before
}
