/**
 * Goal: a delete with all that follows from it happens whole or not at all, whichever backend call fails, and however. Method: calls in
 * turn fail in every way; then the database is opened again. The delete is large enough to be done in steps.
 */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { seededRandom } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage, type Fault } from '../../testing/simulated-page-store.ts'
import { strideOf } from '../../../../tools/test/seeds.ts'
import { openOver, strike } from '../strike.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO', happens: false },
  { kind: 'error', code: 'PANNIER_IO', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]
const POSTS = 900
const COLLECTIONS = {
  users: {},
  posts: { relations: { author: { to: 'users', onDelete: 'cascade' } } },
  notes: { relations: { posts: { to: 'posts', many: true, onDelete: 'unset' } } },
}

async function opened(storage: SimulatedStorage, durability: 'strict' | 'relaxed' = 'relaxed'): Promise<Database> {
  const db = await openOver(storage, durability)
  await db.begin(COLLECTIONS as never, {})
  return db
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** Gives the number of calls that the delete made. */
async function crash(call: number, fault: Fault, seed: number): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next, ...(seed % 2 === 0 && { schedule: randomOrder(next) }) })
  const before = await opened(storage, 'strict')
  await before.collection('users').insert([{ _id: 'ann' }, { _id: 'bob' }])
  await before
    .collection('posts')
    .insert(
      numbers(POSTS).map((n) => ({ _id: `p${n}`, author: n % 10 === 0 ? 'bob' : 'ann', filling: 'x'.repeat(60) })),
    )
  await before.collection('notes').insert(numbers(30).map((n) => ({ _id: `n${n}`, posts: [`p${n}`, `p${n + 1}`] })))
  await before.flush()
  await before.close()
  const calls = await strike(storage, fault, call, async () => {
    const db = await opened(storage, 'strict')
    try {
      await db.collection('users').delete('ann')
    } finally {
      await db.close()
    }
  })

  const db = await opened(storage)
  const [users, posts, notes] = [
    db.collection('users'),
    db.collection('posts'),
    db.collection<{ posts: string[] }>('notes'),
  ]
  const isWhole = (await users.get('ann')) === undefined
  if (call === 0) expect(isWhole).toBe(true)
  expect(await posts.find().count()).toBe(isWhole ? POSTS / 10 : POSTS)
  const referred = (await notes.find().toArray()).flatMap((note) => note.posts)
  expect(referred.length).toBe(isWhole ? 6 : 60)
  expect((await db.check()).problems).toEqual([])
  await db.close()
  return calls
}

const STRIDE = strideOf(5)

test.each(FAULTS)('calls in turn: %j', async (fault) => {
  for (const seed of [1, 6]) {
    const calls = await crash(0, fault, seed)
    expect(calls).toBeGreaterThan(5)
    for (let call = 1 + (FAULTS.indexOf(fault) % STRIDE); call <= calls; call += STRIDE) {
      await crash(call, fault, seed).catch((error: unknown) => {
        throw new Error(`call ${call} of ${calls}, seed ${seed}`, { cause: error })
      })
    }
  }
})
