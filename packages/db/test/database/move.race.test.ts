/**
 * Goal: of a database that several handles move at once (each tab of an app does so when it starts, say) nothing is lost.
 * Method: two handles move it while a third one writes; every call of either end takes a random number of turns. Seeds are replayable.
 */
import { describe, expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom } from '../../testing/random.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const SEEDS = seedsOf('race', 3)
const LATE_TURNS_MAX = 400
const WRITES = 4
const NAME = 'notes'

const ENDS = [
  ['memory to memory', () => memory(), () => memory()],
  ['memory to raw files', () => memory(), () => new RawFileStorage()],
] as const

describe.each(ENDS)('%s', (_ends, makeSource, makeTarget) => {
  test('one moves it, the other finds itself closed', async () => {
    for (const seed of SEEDS) {
      const source = makeSource()
      const [first, second] = await race(seed, source, makeTarget(), (target) => target)
      // Its name is taken by another database.
      if ((await idsIn(source)).includes('late')) continue
      const refused = [first!, second!].filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
      expect(refused.length, `seed ${seed}`).toBe(1)
      expect(refused[0]!.reason, `seed ${seed}`).toMatchObject({ code: 'PANNIER_CLOSED' })
    }
  })

  test('both at once, as after a tab was frozen with the lease', async () => {
    for (const seed of SEEDS) {
      // Of another scope, so that they do not hear of one another.
      await race(seed, makeSource(), makeTarget(), (target) => ({ ...target, scope: 'origin' }))
    }
  })
})

/** Fails unless everything that was acknowledged is there in the end. */
async function race(
  seed: number,
  fastSource: DatabaseStorage,
  fastTarget: DatabaseStorage,
  asSecondSees: (target: DatabaseStorage) => DatabaseStorage,
): Promise<PromiseSettledResult<void>[]> {
  const random = seededRandom(seed)
  const [source, target] = [slow(fastSource, random), slow(fastTarget, random)]
  const openOne = (): Promise<Database> => open(NAME, { storage: source })
  const [first, second, writer] = await Promise.all([openOne(), openOne(), openOne()])
  const acknowledged: string[] = []
  await write(writer, acknowledged, 1)
  // Until they have seen something written they do not know which database it is.
  for (const db of [first, second]) await db.refresh()
  const outcomes = await Promise.allSettled([
    first.moveTo(target),
    pause(random).then(() => second.moveTo(asSecondSees(target))),
    write(writer, acknowledged, random.below(WRITES)),
    pause(random, LATE_TURNS_MAX).then(() => writeLate(source, acknowledged)),
  ])
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(isPannierError(outcome.reason), `seed ${seed}: ${outcome.reason}`).toBe(true)
  }
  await Promise.allSettled([first, second, writer].map((db) => db.close()))
  const [atSource, atTarget] = [await idsIn(source), await idsIn(target)]
  // Whoever opens it late in its old place may have made another one there.
  expect([...atSource, ...atTarget], `seed ${seed}`).toEqual(expect.arrayContaining(acknowledged))
  return outcomes
}

async function write(db: Database, acknowledged: string[], count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const _id = `n${acknowledged.length}`
    await db.collection('notes').insert({ _id })
    acknowledged.push(_id)
  }
}

/** As a tab that starts meanwhile. */
async function writeLate(storage: DatabaseStorage, acknowledged: string[]): Promise<void> {
  const db = await open(NAME, { storage })
  try {
    await db.collection('notes').insert({ _id: 'late' })
    acknowledged.push('late')
  } finally {
    await db.close()
  }
}

async function idsIn(storage: DatabaseStorage): Promise<string[]> {
  const db = await open(NAME, { storage })
  const rows = await db.collection('notes').list().toArray()
  expect((await db.check()).problems).toEqual([])
  await db.close()
  return rows.map(({ id }) => id)
}
