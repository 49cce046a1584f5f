/**
 * Goal: nothing acknowledged is lost and nothing is half applied, whichever backend call fails and however.
 * Method: testing/crash-simulation.ts; every call in turn for a few seeds, a random call for many.
 */
import { test } from 'vitest'
import { randomFault } from '../../testing/crash-host.ts'
import { simulate } from '../../testing/crash-simulation.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 150)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
/** Seeds of which every call fails in turn, in every way. */
const EVERY_CALL = Number(process.env['EVERY_CALL'] ?? 1)

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO', happens: false },
  { kind: 'error', code: 'PANNIER_IO', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]

test('every call in turn', { timeout: 120_000 }, async () => {
  for (let seed = 1; seed <= EVERY_CALL; seed++) {
    for (const fault of FAULTS) {
      let calls = Infinity
      for (let call = 1; call <= calls; call++) {
        const made = await described({ seed, call, fault }, () =>
          simulate({ seed, call, fault, coordinator: soloCoordinator }),
        )
        if (call === 1) calls = await simulate({ seed, call: 0, fault, coordinator: soloCoordinator })
        if (made < call) break
      }
    }
  }
})

test(`random calls of ${SEEDS} seeds from ${FIRST_SEED}`, { timeout: 3_600_000 }, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const random = seededRandom(seed * 7919)
    const fault = randomFault(random)
    const call = 1 + random.below(random.pick([10, 40, 100]))
    await described({ seed, call, fault }, () => simulate({ seed, call, fault, coordinator: soloCoordinator }))
  }
})

async function described<T>(what: object, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`simulation ${JSON.stringify(what)} (replay: SEED=<seed> SEEDS=1)`, { cause: error })
  }
}
