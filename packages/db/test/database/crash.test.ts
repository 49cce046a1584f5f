/**
 * Goal: whatever documents go through (writes, conflicts, attachments, local documents, purge, compaction, indexes, migrations,
 * drop), nothing acknowledged is lost and nothing is half done, whichever backend call fails and however.
 * Method: testing/database-crash-simulation.ts; a random call for many seeds, and every call in turn for a few:
 * `SEEDS=2000 EVERY_CALL=3 vitest run packages/db/test/database/crash.test.ts`.
 */
import { test } from 'vitest'
import { randomFault } from '../../testing/crash-host.ts'
import { simulateDatabase } from '../../testing/database-crash-simulation.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { soloCoordinator } from '../kv/solo-coordinator.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 40)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
/** Seeds of which every call fails in turn; without it one seed, of which every few calls. */
const EVERY_CALL = process.env['EVERY_CALL']
const STRIDE = EVERY_CALL === undefined ? 12 : 1

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO', happens: false },
  { kind: 'error', code: 'PANNIER_IO', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
]

test(`random calls of ${SEEDS} seeds from ${FIRST_SEED}`, { timeout: 3_600_000 }, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const random = seededRandom(seed * 7919)
    const fault = randomFault(random)
    await described(seed, 1 + random.below(random.pick([10, 40, 120])), fault)
  }
})

test('calls in turn', { timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= Number(EVERY_CALL ?? 1); seed++) {
    for (const [at, fault] of FAULTS.entries()) {
      let calls = Infinity
      for (let call = 1 + (at % STRIDE); call <= calls; call += STRIDE)
        calls = Math.min(calls, await described(seed, call, fault, calls))
    }
  }
})

/** Gives the calls that are made when none fails. */
async function described(seed: number, call: number, fault: Fault, calls = 0): Promise<number> {
  try {
    await simulateDatabase({ seed, call, fault, coordinator: soloCoordinator })
    return calls === Infinity ? await simulateDatabase({ seed, call: 0, fault, coordinator: soloCoordinator }) : calls
  } catch (error) {
    throw new Error(`simulation ${JSON.stringify({ seed, call, fault })} (replay: SEED=<seed> SEEDS=1)`, {
      cause: error,
    })
  }
}
