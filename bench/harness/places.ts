/** Runs phases in a browser engine or in Node. Each phase gets a browser or process of its own. */
import { globSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ENGINES, missingPackages } from '../../tools/browser/engines.ts'
import { runPage } from '../../tools/browser/run-page.ts'
import { run } from '../../tools/processes.ts'
import type { Place } from '../contenders/catalog.ts'
import type { PhaseReport, PhaseRequest } from './run-phase.ts'

export const PLACES: readonly Place[] = ['node', ...ENGINES]

const NODE_OPTIONS: readonly string[] = ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning']
const PAGE_ENTRY = join(import.meta.dirname, 'page.ts')
const NODE_ENTRY = join(import.meta.dirname, 'node-process.ts')
const SILENCE_MS_MAX = 300_000

/** Where each engine keeps what pages store, below its profile. */
const STORAGE_FOLDERS: Readonly<Record<Place, readonly string[]>> = {
  node: ['bench*'],
  chromium: ['Default/IndexedDB', 'Default/File System'],
  firefox: ['storage/default'],
  webkit: ['data/**/{databases,storage,IndexedDB}'],
}

/** Why nothing can run there, if so. */
export function obstacleIn(place: Place): string | undefined {
  const missing = place === 'node' ? [] : missingPackages(place)
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`
}

/** `folder` holds all that the database is, and is given again for the next phase. */
export async function runPhaseIn(
  place: Place,
  folder: string,
  request: Omit<PhaseRequest, 'place'>,
  features: readonly string[],
  onWorkload: (name: string) => void,
): Promise<PhaseReport> {
  if (place === 'node') return runInNode(folder, { ...request, place: join(folder, 'bench') })
  const query = { request: JSON.stringify({ ...request, place: 'bench' }) }
  const onProgress = (value: unknown): void => onWorkload(String(value))
  const options = { entry: PAGE_ENTRY, query, profileDir: folder, timeoutMs: SILENCE_MS_MAX, features, onProgress }
  return (await runPage(place, options)) as PhaseReport
}

async function runInNode(folder: string, request: PhaseRequest): Promise<PhaseReport> {
  const parameters = [...NODE_OPTIONS, NODE_ENTRY, JSON.stringify(request)]
  const { output, code } = await run(process.execPath, parameters, { cwd: folder, timeoutMs: SILENCE_MS_MAX })
  const last = output.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(`the process ended with ${code}: ${output.slice(-500)}`)
  return JSON.parse(last) as PhaseReport
}

/** Of `stat`, whatever the file system. */
const BLOCK_BYTES = 512

/** What the storage of the place takes on disk, after its browser or process has ended. */
export function bytesOnDisk(place: Place, folder: string): number {
  const found = STORAGE_FOLDERS[place].flatMap((pattern) => globSync(pattern, { cwd: folder }))
  // A folder within another that was found is counted with it.
  const outermost = found.filter((path) => !found.some((other) => path.startsWith(`${other}/`)))
  return outermost.reduce((sum, path) => sum + sizeOf(join(folder, path)), 0)
}

function sizeOf(path: string): number {
  const facts = statSync(path)
  // What it occupies: a file may have holes.
  if (!facts.isDirectory()) return facts.blocks * BLOCK_BYTES
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
