/**
 * Goal: whatever steps of a transaction do at the same time, what was acknowledged is there, all or nothing, in memory and when it is
 * opened again. Method: the suite on storages that answer at once, or later and with no cache; random steps, see
 * testing/transaction-simulation.ts.
 */
import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { transactionSuite } from '../../testing/conformance/transactions.ts'
import { seededRandom } from '../../testing/random.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { prefixed } from '../../testing/suite.ts'
import { simulateTransactions } from '../../testing/transaction-simulation.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

transactionSuite({
  test: prefixed(test, 'memory'),
  create: () => {
    const storage = memory()
    return { open: () => open('x', { storage, cacheBytesMax: 1024 * 1024 }) }
  },
})
transactionSuite({
  test: prefixed(test, 'slow, no cache'),
  create: () => {
    const storage = slow(memory(), 2)
    return { open: () => openCold('x', storage) }
  },
})

for (const seed of seedsOf('model')) {
  test(`random steps, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const storage = slow(memory(), random.fork())
    const cacheBytesMax = random.pick([0, 50_000, 1_000_000])
    await simulateTransactions(() => openCold('x', storage, { cacheBytesMax }), random)
  })
}
