/**
 * Plug-ins that show other documents than those that are stored: crypto-pouch, transform-pouch. They replace methods of PouchDB, and
 * PouchDB's other methods call these by name. A method that reads or writes the stored documents past them would show, or store, plain
 * text. So the native paths are off as soon as one of these methods is not the one that was there at first.
 */
import type { Pouch } from './pouch.ts'

const SHOWING = ['bulkDocs', 'get', 'allDocs', 'changes'] as const

/** Call it when all methods of ours are in place. */
export function wrappingOf(api: Pouch): () => boolean {
  const own = SHOWING.map((name) => (Object.hasOwn(api, name) ? api[name] : originalOf(api, name)))
  return () => SHOWING.some((name, at) => api[name] !== own[at])
}

/** A plug-in for all databases has its method on a prototype of them. PouchDB's own is furthest up. */
function originalOf(api: Pouch, name: string): unknown {
  let found: unknown
  for (let at: object | null = api; at !== null; at = Object.getPrototypeOf(at) as object | null)
    if (Object.hasOwn(at, name)) found = (at as Record<string, unknown>)[name]
  return found
}
