/** Runs phases of the bars. Each gets a browser or process of its own. */
import { join } from 'node:path'
import type { Place } from '../contenders/catalog.ts'
import { databaseIn, runProgram } from '../places.ts'
import type { Program } from '../places.ts'
import type { ContenderName, PhaseReport, PhaseRequest } from './phase.ts'

export const PROGRAM: Program = {
  page: join(import.meta.dirname, 'page.ts'),
  node: join(import.meta.dirname, 'node-process.ts'),
  waitMsMax: 600_000,
}

/** The contender that Pannier is compared with there. */
export function rivalIn(place: Place): ContenderName {
  return place === 'node' ? 'node-sqlite' : 'indexed-db'
}

/** `folder` holds all that the database is, and is given again for the next phase. */
export async function runPhaseIn(
  place: Place,
  folder: string,
  request: Omit<PhaseRequest, 'place'>,
): Promise<PhaseReport> {
  return (await runProgram(place, PROGRAM, folder, { ...request, place: databaseIn(place, folder) })) as PhaseReport
}
