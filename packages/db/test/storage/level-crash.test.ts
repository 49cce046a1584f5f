/**
 * Goal: nothing acknowledged is lost and nothing is half applied, whichever call of the abstract-level database fails and however.
 * Method: the crash simulations of key-value stores and of databases, one layer further down (simulated-level.ts).
 */
import { test } from 'vitest'
import { randomFault, type Simulation } from '../../testing/crash-host.ts'
import { simulate } from '../../testing/crash-simulation.ts'
import { simulateDatabase } from '../../testing/database-crash-simulation.ts'
import { seededRandom } from '../../testing/random.ts'
import { soloCoordinator } from '../kv/solo-coordinator.ts'
import { SimulatedLevels } from './simulated-level.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 60)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)

test.each([
  ['key-value store', SEEDS, simulate],
  ['database', Math.ceil(SEEDS / 3), simulateDatabase],
] as const)(`%s, random calls of %i seeds from ${FIRST_SEED}`, { timeout: 3_600_000 }, async (_, seeds, run) => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const random = seededRandom(seed * 7919)
    const fault = randomFault(random)
    const call = 1 + random.below(random.pick([20, 60, 150]))
    await described(run, { seed, call, fault, coordinator: soloCoordinator, place: (o) => new SimulatedLevels(o) })
  }
})

async function described(run: (simulation: Simulation) => Promise<number>, simulation: Simulation): Promise<void> {
  try {
    await run(simulation)
  } catch (error) {
    const { seed, call, fault } = simulation
    throw new Error(`simulation ${JSON.stringify({ seed, call, fault })} (replay: SEED=<seed> SEEDS=1)`, {
      cause: error,
    })
  }
}
