/**
 * Goal: whatever steps of a transaction do at the same time, what was acknowledged is there, all or nothing, in memory and when it is
 * opened again. Method: the suite on storages that answer at once or later, with little or no cache; random steps, see
 * testing/transaction-simulation.ts.
 */
import { MemoryLevel } from 'memory-level'
import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { level } from '../../src/storage/level/level.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { transactionSuite, type TransactionFixture } from '../../testing/conformance/transactions.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom } from '../../testing/random.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { prefixed } from '../../testing/suite.ts'
import { simulateTransactions } from '../../testing/transaction-simulation.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const LEAST_CACHE = 1024 * 1024

const opened = (make: () => DatabaseStorage) => (): TransactionFixture => {
  const storage = make()
  return { open: () => open('x', { storage, cacheBytesMax: LEAST_CACHE }) }
}
const uncached = (make: () => DatabaseStorage) => (): TransactionFixture => {
  const storage = make()
  return { open: () => openCold('x', storage) }
}

transactionSuite({ test: prefixed(test, 'memory'), create: opened(memory) })
transactionSuite({ test: prefixed(test, 'memory, no cache'), create: uncached(memory) })
transactionSuite({ test: prefixed(test, 'slow'), create: opened(() => slow(memory(), 1)) })
transactionSuite({ test: prefixed(test, 'slow, no cache'), create: uncached(() => slow(memory(), 2)) })
transactionSuite({ test: prefixed(test, 'slow LevelDB'), create: opened(() => slow(level(new MemoryLevel()), 3)) })
transactionSuite({ test: prefixed(test, 'raw files'), create: uncached(() => slow(new RawFileStorage(), 4)) })

for (const seed of seedsOf('model')) {
  test(`random steps, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const storage = slow(memory(), random)
    const cacheBytesMax = random.pick([0, 50_000, 1_000_000])
    await simulateTransactions(() => openCold('x', storage, { cacheBytesMax }), random)
  })
}
