/** Where contenders run: a browser engine or Node. Each phase gets a browser or process of its own. */
import { join } from 'node:path'
import { ENGINES, missingPackages } from '../../tools/browser/engines.ts'
import type { Engine } from '../../tools/browser/engines.ts'
import { runPage } from '../../tools/browser/run-page.ts'
import { run } from '../../tools/processes.ts'
import type { ContenderName, PhaseReport, PhaseRequest } from './phase.ts'

export type Place = 'node' | Engine

export const PLACES: readonly Place[] = ['node', ...ENGINES]

export const NODE_OPTIONS: readonly string[] = ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning']
export const PAGE_ENTRY: string = join(import.meta.dirname, 'page.ts')
const NODE_ENTRY = join(import.meta.dirname, 'node-process.ts')
const SILENCE_MS_MAX = 180_000

/** What Pannier is measured against there. */
export function rivalIn(place: Place): ContenderName {
  return place === 'node' ? 'node-sqlite' : 'indexed-db'
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
): Promise<PhaseReport> {
  if (place === 'node') return runInNode(folder, { ...request, place: databaseFile(folder) })
  const query = { request: JSON.stringify({ ...request, place: 'bench' }) }
  const options = { entry: PAGE_ENTRY, query, profileDir: folder, timeoutMs: SILENCE_MS_MAX }
  return (await runPage(place, options)) as PhaseReport
}

export function databaseFile(folder: string): string {
  return join(folder, 'bench.db')
}

/** A file for the profile, if one is asked for, is an argument of its own. */
export async function runInNode(folder: string, request: PhaseRequest, profileFile?: string): Promise<PhaseReport> {
  const parameters = [...NODE_OPTIONS, NODE_ENTRY, JSON.stringify(request)]
  if (profileFile !== undefined) parameters.push(profileFile)
  const { output } = await run(process.execPath, parameters, { cwd: folder })
  if (!output.startsWith('{')) throw new Error(`the process failed:\n${output}`)
  return JSON.parse(output) as PhaseReport
}
