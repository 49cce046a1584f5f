/**
 * Goal: a snapshot whose storage fails is no snapshot: the stream fails with the storage's error, nothing stays held, and the database
 * goes on. Method: the fault at each backend call of a snapshot in turn.
 */
import { expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { seededRandom } from '../../testing/random.ts'
import { SimulatedStorage, type Fault } from '../../testing/simulated-page-store.ts'

const LEAST_CACHE = 1024 * 1024
const DOCUMENTS = 1500

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_QUOTA_EXCEEDED', happens: true },
]

test.each(FAULTS)('a snapshot in which each call in turn meets %o', async (fault) => {
  const storage = new SimulatedStorage({ random: seededRandom(1).next })
  const db = await open('x', { storage, cacheBytesMax: LEAST_CACHE })
  const items = db.collection('items', { indexes: ['n'] })
  const insert = (from: number, count: number): Promise<unknown> =>
    items.insert(Array.from({ length: count }, (_, at) => ({ _id: `d${from + at}`, n: at, pad: 'x'.repeat(400) })))
  await insert(0, DOCUMENTS)
  let rows = DOCUMENTS
  let failures = 0
  for (let call = 1; ; call++) {
    // In the log only, so that a snapshot writes pages as well.
    await insert(rows++, 1)
    const before = storage.calls
    storage.failAt(before + call, fault)
    const outcome = await new Response(db.snapshot()).arrayBuffer().catch((error: unknown) => error)
    storage.disarm()
    if (outcome instanceof ArrayBuffer) {
      const copy = await open('copy', { storage: memory(), from: new Uint8Array(outcome) })
      expect(await copy.collection('items').find().count()).toBe(rows)
      await copy.close()
    } else {
      expect(isPannierError(outcome, fault.kind === 'error' ? fault.code : 'PANNIER_IO_FAILED'), String(outcome)).toBe(
        true,
      )
      failures++
    }
    expect(await items.find().count()).toBe(rows)
    if (storage.calls - before < call) break
  }
  expect(failures).toBeGreaterThan(3)
  expect((await db.check()).problems).toEqual([])
  await db.close()
})
