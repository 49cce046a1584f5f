/** A turn from outside: each phase in a fresh browser or Node process, on a folder that is removed afterwards. */
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import type { Place } from '../contenders/catalog.ts'
import { bytesOnDisk, runPhaseIn } from './places.ts'
import type { Turn } from './schedule.ts'
import { runPhases } from './turn.ts'
import type { TurnResult } from './turn.ts'

export interface TurnOptions {
  readonly place: Place
  readonly only: readonly string[]
  /** Chromium's, that are off by default. */
  readonly features: readonly string[]
  /** Named as it begins. */
  readonly onWorkload: (name: string) => void
}

export async function runTurn(turn: Turn, { place, only, features, onWorkload }: TurnOptions): Promise<TurnResult> {
  const folder = makeFolder('bench')
  try {
    return await runPhases(turn, only, {
      run: (request) => runPhaseIn(place, folder, request, features, onWorkload),
      bytesOnDisk: () => bytesOnDisk(place, folder),
    })
  } finally {
    removeFolder(folder)
  }
}
