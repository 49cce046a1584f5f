/**
 * Goal: over the file logic of OPFS nothing acknowledged is lost and nothing is half applied, whichever operation of the disk fails and
 * however, lost power included.
 * Method: testing/crash-simulation.ts, where the calls that fail are those of a simulated disk.
 */
import { test } from 'vitest'
import { randomFault } from '../../testing/crash-host.ts'
import { simulate } from '../../testing/crash-simulation.ts'
import { seededRandom } from '../../testing/random.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { SimulatedDisk } from '../../testing/simulated-disk.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 30)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)

test(`random operations of ${SEEDS} seeds from ${FIRST_SEED}`, { timeout: 3_600_000 }, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const random = seededRandom(seed * 7919)
    const fault = randomFault(random)
    const call = 1 + random.below(random.pick([10, 60, 200]))
    try {
      await simulate({
        seed,
        call,
        fault,
        coordinator: soloCoordinator,
        place: () => new RawFileStorage(new SimulatedDisk(random)),
      })
    } catch (error) {
      throw new Error(`simulation ${JSON.stringify({ seed, call, fault })} (replay: SEED=${seed} SEEDS=1)`, {
        cause: error,
      })
    }
  }
})
