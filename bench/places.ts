/** Where programs that measure run: in a page of a browser engine or in Node, each time in a browser or process of its own. */
import { globSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ENGINES, missingPackages } from '../tools/browser/engines.ts'
import { runPage } from '../tools/browser/run-page.ts'
import type { RunPageOptions } from '../tools/browser/run-page.ts'
import { build } from '../tools/checks/build.ts'
import { run } from '../tools/processes.ts'
import type { Place } from './contenders/catalog.ts'

export const PLACES: readonly Place[] = ['node', ...ENGINES]

const NODE_OPTIONS: readonly string[] = ['--disable-warning=ExperimentalWarning']

/** Where each engine keeps what pages store, below its profile. */
const STORAGE_FOLDERS: Readonly<Record<Place, readonly string[]>> = {
  node: ['bench*'],
  chromium: ['Default/IndexedDB', 'Default/File System'],
  firefox: ['storage/default'],
  webkit: ['data/**/{databases,storage,IndexedDB}'],
}

export interface Program {
  /** The page to run: `request` is in its query string, and it reports its result. */
  readonly page: string
  /** The script that Node runs: `request` is its argument, and its last line is its result. */
  readonly node: string
  /** For a page, without a word; for a process, in all. */
  readonly waitMsMax: number
}

/** The obstacle to a run in a place, if there is any. */
export function obstacleIn(place: Place): string | undefined {
  const missing = place === 'node' ? [] : missingPackages(place)
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`
}

/** Name or path of the database; `folder` holds all that it is. */
export function databaseIn(place: Place, folder: string): string {
  return place === 'node' ? join(folder, 'bench') : 'bench'
}

/** Another program with the same `folder` finds what this one stores. */
export async function runProgram(
  place: Place,
  program: Program,
  folder: string,
  request: object,
  options: Pick<RunPageOptions, 'features' | 'onProgress'> = {},
): Promise<unknown> {
  if (place === 'node') return runInNode(program, folder, request)
  const query = { request: JSON.stringify(request) }
  return runPage(place, { ...options, entry: program.page, query, profileDir: folder, timeoutMs: program.waitMsMax })
}

let built: Promise<void> | undefined

/** Uses the published form of the packages; otherwise first calls would wait for types to be stripped. */
export async function runInNode(
  { node, waitMsMax }: Program,
  folder: string,
  request: object,
  ...further: string[]
): Promise<unknown> {
  await (built ??= build())
  const parameters = [...NODE_OPTIONS, node, JSON.stringify(request), ...further]
  const { output, code } = await run(process.execPath, parameters, { cwd: folder, timeoutMs: waitMsMax })
  const last = output.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(`the process ended with ${code}: ${output.slice(-500)}`)
  return JSON.parse(last)
}

/** Block size of `stat` on any file system. */
const BLOCK_BYTES = 512

/** Bytes on disk of the place's storage, after its browser or process has ended. */
export function bytesOnDisk(place: Place, folder: string): number {
  const found = STORAGE_FOLDERS[place].flatMap((pattern) => globSync(pattern, { cwd: folder }))
  // A folder within another that was found is counted with it.
  const outermost = found.filter((path) => !found.some((other) => path.startsWith(`${other}/`)))
  return outermost.reduce((sum, path) => sum + sizeOf(join(folder, path)), 0)
}

function sizeOf(path: string): number {
  const facts = statSync(path)
  // Occupied blocks: a file may have holes.
  if (!facts.isDirectory()) return facts.blocks * BLOCK_BYTES
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
