/**
 * Tests of crash simulations. tools/test/seeds.ts says how many seeds run. Every few calls fail in turn; with more EFFORT
 * more of them.
 */
import { describe, test } from 'vitest'
import { randomFault, type SimulatedPlace, type Simulation } from '../testing/crash-host.ts'
import { seededRandom } from '../testing/random.ts'
import { RawFileStorage } from '../testing/raw-file-storage.ts'
import { SimulatedDisk } from '../testing/simulated-disk.ts'
import { SimulatedStorage, type Fault, type SimulationOptions } from '../testing/simulated-page-store.ts'
import { soloCoordinator } from './kv/solo-coordinator.ts'
import { SimulatedLevels } from './storage/simulated-level.ts'
import { FIRST_SEED, firstOf, seedsOf, strideOf } from '../../../tools/test/seeds.ts'

/** Gives the number of backend calls; throws for whatever is wrong. */
type Simulate = (simulation: Simulation) => Promise<number>

/** What meets the faults: calls of a page store, operations of a disk below `storage/opfs/`, calls of an abstract-level database. */
const PLACES: Readonly<Record<string, (options: SimulationOptions) => SimulatedPlace>> = {
  'a page store': (options) => new SimulatedStorage(options),
  'raw files': ({ random = () => 0 }) => new RawFileStorage(new SimulatedDisk(seededRandom(random() * 2 ** 32))),
  LevelDB: (options) => new SimulatedLevels(options),
}

export interface RandomCalls {
  /** As a share of the seeds of the lane. */
  readonly share: number
  /** The call that fails is one of this number. */
  readonly callsMax: readonly number[]
}

/** Random calls in each of these places. */
export function randomCallsIn(simulate: Simulate, places: Readonly<Record<string, RandomCalls>>): void {
  describe.each(Object.entries(places))('over %s', (name, calls) =>
    randomCalls((simulation) => simulate({ ...simulation, place: PLACES[name]! }), calls),
  )
}

export function randomCalls(simulate: Simulate, { share, callsMax }: RandomCalls): void {
  const seeds = seedsOf('crash', share)
  test(`random calls of ${seeds.length} seeds from ${seeds[0]}`, { timeout: 3_600_000 }, async () => {
    for (const seed of seeds) {
      const random = seededRandom(seed * 7919)
      const fault = randomFault(random)
      await run(simulate, seed, 1 + random.below(random.pick(callsMax)), fault)
    }
  })
}

/** `stride`: the distance between calls that fail in `npm test`; each fault has calls of its own. `first`: a seed that has much to do. */
export function callsInTurn(
  simulate: Simulate,
  { faults, stride: usual, first = 1 }: { readonly faults: readonly Fault[]; readonly stride: number; first?: number },
): void {
  const stride = strideOf(usual)
  test('calls in turn', { timeout: 3_600_000 }, async () => {
    const seed = first + FIRST_SEED - 1
    const calls = await run(simulate, seed, 0, faults[0]!)
    for (const [at, fault] of faults.entries()) {
      for (let call = firstOf(at, stride); call <= calls; call += stride) await run(simulate, seed, call, fault)
    }
  })
}

async function run(simulate: Simulate, seed: number, call: number, fault: Fault): Promise<number> {
  try {
    return await simulate({ seed, call, fault, coordinator: soloCoordinator })
  } catch (error) {
    const what = JSON.stringify({ seed, call, fault })
    throw new Error(`simulation ${what} (replay: SEED=<seed> SEEDS=1)`, { cause: error })
  }
}
