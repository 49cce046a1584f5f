/**
 * Goal: whichever backend call fails while indexes of all kinds are built, and however, the next run ends up with complete ones,
 * or without the one that documents stand in the way of.
 * Method: calls in turn fail in every way; then the database is opened again.
 */
import { expect, test } from 'vitest'
import type { IndexInput } from '../../src/index/index-definition.ts'
import { seededRandom } from '../../testing/random.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { SimulatedStorage } from '../../testing/simulated-page-store.ts'
import { openOver, strike } from '../strike.ts'
import { firstOf, strideOf } from '../../../../tools/test/seeds.ts'

const COUNT = 400
const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
]
const INDEXES: IndexInput[] = [
  { on: ['text'], text: true },
  { on: 'n', where: { even: true } },
  { on: 'n', unique: true, name: 'unique n' },
  { on: 'even', unique: true, name: 'hopeless' },
]

/** Gives the number of calls that the build made. */
async function crash(call: number, fault: Fault, seed: number): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next })
  const before = await openOver(storage, 'strict')
  const documents = Array.from({ length: COUNT }, (_, n) => ({
    _id: `d${n}`,
    n,
    even: n % 2 === 0,
    text: `ä ${n} word`,
  }))
  await before.collection('docs').insert(documents)
  await before.close()
  const calls = await strike(storage, fault, call, async () => {
    const db = await openOver(storage)
    const docs = db.collection('docs', { indexes: INDEXES })
    await docs.ready().catch(() => {})
    await docs.update('d7', (one) => ({ ...one, n: 1000, text: 'changed' }))
    await db.flush()
    await db.close()
  })

  const db = await openOver(storage)
  const docs = db.collection('docs', { indexes: INDEXES })
  await expect(docs.ready()).rejects.toMatchObject({ code: 'PANNIER_NOT_UNIQUE', details: { index: 'hopeless' } })
  expect((await docs.indexes()).map(({ ready }) => ready)).toEqual([true, true, true])
  expect(await docs.search('a word').count()).toBeGreaterThanOrEqual(COUNT - 1)
  await expect(docs.insert({ n: 5 })).rejects.toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
  expect((await db.check()).problems).toEqual([])
  await db.close()
  return calls
}

test('a build survives whatever fails', async () => {
  const calls = await crash(0, FAULTS[0]!, 1)
  expect(calls).toBeGreaterThan(4)
  for (const [at, fault] of FAULTS.entries()) {
    const stride = strideOf(3)
    for (let call = firstOf(at, stride); call <= calls; call += stride) {
      await crash(call, fault, at + call).catch((error: unknown) => {
        throw new Error(`call ${call} of ${calls}, fault ${at}`, { cause: error })
      })
    }
  }
})
