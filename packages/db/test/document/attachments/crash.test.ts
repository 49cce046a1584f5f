/**
 * Goal: no fault loses an acknowledged attachment, damages one, or leaves bytes behind for ever.
 * Method: testing/attachment-crash-simulation.ts; every call of one seed meets some fault, a random call for many.
 */
import { test } from 'vitest'
import { simulateAttachments } from '../../../testing/attachment-crash-simulation.ts'
import { randomFault } from '../../../testing/crash-host.ts'
import { seededRandom } from '../../../testing/random.ts'
import type { Fault } from '../../../testing/simulated-page-store.ts'
import { soloCoordinator } from '../../kv/solo-coordinator.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 40)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_QUOTA_EXCEEDED', happens: false },
  { kind: 'error', code: 'PANNIER_IO', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
]

test('every call in turn', { timeout: 120_000 }, async () => {
  const calls = await described({ seed: 3, call: 0, fault: FAULTS[0]! })
  for (let call = 1; call <= calls; call++) await described({ seed: 3, call, fault: FAULTS[call % FAULTS.length]! })
})

test(`random calls of ${SEEDS} seeds from ${FIRST_SEED}`, { timeout: 3_600_000 }, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const random = seededRandom(seed * 7919)
    await described({ seed, call: 1 + random.below(random.pick([5, 20, 60])), fault: randomFault(random) })
  }
})

async function described(what: { seed: number; call: number; fault: Fault }): Promise<number> {
  try {
    return await simulateAttachments({ ...what, coordinator: soloCoordinator })
  } catch (error) {
    throw new Error(`simulation ${JSON.stringify(what)} (replay: SEED=<seed> SEEDS=1)`, { cause: error })
  }
}
