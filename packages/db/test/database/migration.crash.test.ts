/**
 * Goal: whichever backend call fails during a migration, and however, no document is lost, changed twice or left behind.
 * Method: calls in turn fail in every way; then the database is opened again by code of the same version. Each fault meets every
 * few calls, and together they meet all.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Migration } from '../../src/database/schema/collection-schema.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { randomOrder, SimulatedStorage } from '../../testing/simulated-page-store.ts'
import { openOver, strike } from '../strike.ts'
import { firstOf, strideOf } from '../../../../tools/test/seeds.ts'

const COUNT = 600
const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]
/** Ids that end in 00 fail, those that end in 01 go. */
const MIGRATIONS: Record<number, Migration> = {
  2: async (doc) => {
    const n = Number(doc['n'])
    if (n % 100 === 0) throw new Error('no')
    return n % 100 === 1 ? { _deleted: true } : { ...doc, n, text: `text ${n}` }
  },
}

/** Gives the number of calls that the migration made. */
async function crash(call: number, fault: Fault, seed: number): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next, ...(seed % 2 === 0 && { schedule: randomOrder(next) }) })
  const before = await openOver(storage, 'strict')
  await before
    .collection('docs', { indexes: ['text'] })
    .insert(Array.from({ length: COUNT }, (_, n) => ({ _id: `d${n}`, n, filling: 'x'.repeat(100) })))
  await before.close()
  const calls = await strike(storage, fault, call, async () => {
    const db = await openOver(storage, seed % 3 === 0 ? 'strict' : 'relaxed')
    try {
      await db.collection('docs', { version: 2, migrations: MIGRATIONS }).ready()
      await db.flush()
    } finally {
      // These handles take no turns: one that is left open would migrate beside the next.
      await db.close()
    }
  })

  const db = await openOver(storage)
  const docs = db.collection('docs', { version: 2, migrations: MIGRATIONS })
  const all = await docs.find().toArray()
  expect(all.length).toBe(COUNT - COUNT / 100)
  for (const { _id, _rev, n, text } of all) {
    const failed = Number(n) % 100 === 0
    expect([_id, _rev[0], text]).toEqual([
      `d${String(n)}`,
      failed ? '1' : '2',
      failed ? undefined : `text ${String(n)}`,
    ])
  }
  expect((await docs.migrationFailures()).length).toBe(COUNT / 100)
  expect((await db.check()).problems).toEqual([])
  await db.close()
  return calls
}

const STRIDE = strideOf(11)

describe.each([1, 6])('seed %d', (seed) => {
  let calls: number
  beforeAll(async () => {
    calls = await crash(0, FAULTS[0]!, seed)
    expect(calls).toBeGreaterThan(5)
  })

  test.each(FAULTS)('calls in turn: %j', async (fault) => {
    for (let call = firstOf(FAULTS.indexOf(fault), STRIDE); call <= calls; call += STRIDE) {
      await crash(call, fault, seed).catch((error: unknown) => {
        throw new Error(`call ${call} of ${calls}, seed ${seed}`, { cause: error })
      })
    }
  })
})
