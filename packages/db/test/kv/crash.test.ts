/**
 * Goal: nothing acknowledged is lost and nothing is half applied, whichever backend call fails and however.
 * Method: testing/crash-simulation.ts; calls in turn for a few seeds (all of them with EVERY_CALL=2), a random call for many.
 */
import { test } from 'vitest'
import { randomFault } from '../../testing/crash-host.ts'
import { simulate } from '../../testing/crash-simulation.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { soloCoordinator } from './solo-coordinator.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 150)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
/** Seeds of which every call fails in turn, in every way; without it one seed, of which every few calls. */
const EVERY_CALL = process.env['EVERY_CALL']
const STRIDE = EVERY_CALL === undefined ? 6 : 1

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO', happens: false },
  { kind: 'error', code: 'PANNIER_IO', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]

test('calls in turn', { timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= Number(EVERY_CALL ?? 1); seed++) {
    for (const [at, fault] of FAULTS.entries()) {
      let calls = Infinity
      for (let call = 1 + (at % STRIDE); call <= calls; call += STRIDE) {
        const made = await described({ seed, call, fault }, () =>
          simulate({ seed, call, fault, coordinator: soloCoordinator }),
        )
        if (calls === Infinity) calls = await simulate({ seed, call: 0, fault, coordinator: soloCoordinator })
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
