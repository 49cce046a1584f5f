/**
 * Goal: whatever is done at the same time, and whatever of it is aborted, each read has the documents as they were before or after the
 * writes beside it, and what was acknowledged is there; also when handles are closed in the midst. Method:
 * testing/concurrency-simulation.ts on a storage that answers later, half of the seeds without a cache, half through `open`, some of
 * these encrypted.
 */
import { MemoryLevel } from 'memory-level'
import { afterAll, beforeAll, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { level } from '../../src/storage/level/level.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { simulateConcurrency } from '../../testing/concurrency-simulation.ts'
import { newDeviceKey } from '../../testing/conformance/encryption.ts'
import { seededRandom } from '../../testing/random.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { useSmallPages } from '../../testing/small-pages.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const LEAST_CACHE = 1024 * 1024

let largePages = (): void => {}
beforeAll(() => {
  largePages = useSmallPages()
})
afterAll(() => largePages())

for (const seed of seedsOf('race')) {
  test(`everything at once, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const storage = slow(seed % 3 === 0 ? level(new MemoryLevel()) : memory(), random)
    if (seed % 2 === 0)
      return simulateConcurrency({ random, open: () => openCold('x', storage, { checkpoints: random }) })
    const encryption = seed % 4 === 1 ? { key: await newDeviceKey() } : undefined
    const options = { cacheBytesMax: LEAST_CACHE, ...(encryption && { encryption }) }
    let copies = 0
    return simulateConcurrency({
      random,
      open: () => open('x', { ...options, storage }),
      copy: (from) => open(`copy ${++copies}`, { ...options, storage, from }),
    })
  })
}
