/** Runs a turn from outside: each phase in a fresh browser or Node process, on a folder that is removed afterwards. */
import { join } from 'node:path'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import type { Place } from '../contenders/catalog.ts'
import { bytesOnDisk, databaseIn, runProgram } from '../places.ts'
import type { Program } from '../places.ts'
import type { PhaseReport } from './run-phase.ts'
import type { Turn } from './schedule.ts'
import { runPhases } from './turn.ts'
import type { TurnResult } from './turn.ts'

const PROGRAM: Program = {
  page: join(import.meta.dirname, 'page.ts'),
  node: join(import.meta.dirname, 'node-process.ts'),
  waitMsMax: 300_000,
}

export interface TurnOptions {
  readonly place: Place
  readonly only: readonly string[]
  /** Features of Chromium that are off by default. */
  readonly features: readonly string[]
  /** Named as it begins. */
  readonly onWorkload: (name: string) => void
}

export async function runTurn(turn: Turn, { place, only, features, onWorkload }: TurnOptions): Promise<TurnResult> {
  const folder = makeFolder('bench')
  const database = databaseIn(place, folder)
  const onProgress = (value: unknown): void => onWorkload(String(value))
  try {
    return await runPhases(turn, only, {
      run: async (request) => {
        const report = await runProgram(
          place,
          PROGRAM,
          folder,
          { ...request, place: database },
          { features, onProgress },
        )
        return report as PhaseReport
      },
      bytesOnDisk: () => bytesOnDisk(place, folder),
    })
  } finally {
    removeFolder(folder)
  }
}
