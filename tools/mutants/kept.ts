/** Files of runs in a checkout, so that a later run continues them. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function cacheFile(suite: string, name: string): string {
  return join(suite, 'node_modules/.cache/mutants', name)
}

export function readJson<T>(path: string, otherwise: T): T {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return otherwise
  }
}

/** Whole, or not at all. */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, `${JSON.stringify(value, undefined, 1)}\n`)
  renameSync(`${path}.new`, path)
}
