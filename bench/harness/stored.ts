/** The committed results: one file for each place, with a line for each run. Rows follow from runs, so no file has them. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rowsOf, type ResultFile } from './results.ts'

const FOLDER = join(import.meta.dirname, '../results/current')

/** In the order of their names. */
export function storedResults(folder: string = FOLDER): ResultFile[] {
  const names = globSync('*.json', { cwd: folder }).sort()
  return names.map((name) => {
    const stored = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Omit<ResultFile, 'rows'>
    return { ...stored, rows: rowsOf(stored.runs) }
  })
}

export function storeResult(name: string, { runs, rows: _, ...head }: ResultFile): void {
  mkdirSync(FOLDER, { recursive: true })
  const lines = runs.map((run) => `    ${JSON.stringify(run)}`).join(',\n')
  const text = JSON.stringify({ ...head, runs: [] }, undefined, 2).replace(/\[\]\n\}$/, `[\n${lines}\n  ]\n}\n`)
  writeFileSync(join(FOLDER, `${name}.json`), text)
}
