/**
 * Goal: a delete with all that follows from it happens whole or not at all, whichever backend call fails, and however. Method: calls in
 * turn fail in every way; then the database is opened again. The delete is large enough to be done in steps.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { seededRandom } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage, type Fault } from '../../testing/simulated-page-store.ts'
import { firstOf, strideOf } from '../../../../tools/test/seeds.ts'
import { openOver, strike } from '../strike.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]
const COLLECTIONS = {
  users: {},
  posts: { indexes: ['text', ['text', 'author']], relations: { author: { to: 'users', onDelete: 'cascade' } } },
  notes: { relations: { posts: { to: 'posts', many: true, onDelete: 'unset' } } },
}

async function opened(storage: SimulatedStorage, durability: 'strict' | 'relaxed' = 'relaxed'): Promise<Database> {
  const db = await openOver(storage, durability)
  await db.begin(COLLECTIONS as never, {})
  return db
}

interface Size {
  readonly posts: number
  /** The length of a text in two indexes, whose entries go too. */
  readonly text: number
  readonly seeds: readonly number[]
  /** The distance between the calls that fail. */
  readonly stride: number
}

/** The larger one takes more than a log record, so it goes to pages before it commits. */
const SIZES: readonly Size[] = [
  { posts: 900, text: 20, seeds: [1, 6], stride: strideOf(17) },
  { posts: 1200, text: 500, seeds: [1], stride: strideOf(61) },
]

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** Gives the number of calls that the delete made. */
async function crash(call: number, fault: Fault, seed: number, { posts: count, text }: Size): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next, ...(seed % 2 === 0 && { schedule: randomOrder(next) }) })
  const before = await opened(storage, 'strict')
  await before.collection('users').insert([{ _id: 'ann' }, { _id: 'bob' }])
  await before.collection('posts').insert(
    numbers(count).map((n) => ({
      _id: `p${n}`,
      author: n % 10 === 0 ? 'bob' : 'ann',
      text: 'x'.repeat(text) + String(n),
    })),
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
  expect(await posts.find().count()).toBe(isWhole ? count / 10 : count)
  const referred = (await notes.find().toArray()).flatMap((note) => note.posts)
  expect(referred.length).toBe(isWhole ? 6 : 60)
  expect((await db.check()).problems).toEqual([])
  await db.close()
  return calls
}

for (const size of SIZES)
  describe.each(size.seeds)(`${size.posts} posts, seed %d`, (seed) => {
    let calls: number
    beforeAll(async () => {
      calls = await crash(0, FAULTS[0]!, seed, size)
      expect(calls).toBeGreaterThan(5)
    })

    test.each(FAULTS)('calls in turn: %j', async (fault) => {
      for (let call = firstOf(FAULTS.indexOf(fault), size.stride); call <= calls; call += size.stride) {
        await crash(call, fault, seed, size).catch((error: unknown) => {
          throw new Error(`call ${call} of ${calls}, seed ${seed}`, { cause: error })
        })
      }
    })
  })
