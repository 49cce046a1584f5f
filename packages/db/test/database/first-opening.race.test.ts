/**
 * Goal: of a name that is new, and that several handles open at once, some with a key and some without, there is one database: who has
 * made it keeps what was written, the others are told.
 * Method: every call takes a random number of turns. Seeds are replayable.
 */
import { describe, expect, test } from 'vitest'
import { isPannierError } from '../../src/base/errors.ts'
import { open, type OpenOptions } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { deviceKey, newDeviceKey } from '../storage/encrypted/fixture.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const NAME = 'notes'
const WRITES = 3
const REFUSED = ['PANNIER_ENCRYPTED', 'PANNIER_NOT_ENCRYPTED', 'PANNIER_KEY_WRONG']

const otherKey = await newDeviceKey()
const KEYS = [undefined, { encryption: { key: deviceKey } }, { encryption: { key: otherKey } }] as const

describe.each([
  ['memory', () => memory()],
  ['raw files', () => new RawFileStorage()],
] as const)('%s', (_kind, make) => {
  test('one after another', () => raceAll(make, 'process'))
  test('as after a handle was frozen with the lease', () => raceAll(make, 'origin'))
})

async function raceAll(make: () => DatabaseStorage, scope: DatabaseStorage['scope']): Promise<void> {
  for (const seed of seedsOf('race', 2)) await race(seed, make(), scope)
}

async function race(seed: number, storage: DatabaseStorage, scope: DatabaseStorage['scope']): Promise<void> {
  const random = seededRandom(seed)
  const acknowledged = KEYS.map((): string[] => [])
  const outcomes = await Promise.allSettled(
    KEYS.flatMap((options, index) =>
      ['process', scope].map((seen, copy) =>
        use(
          slow(storage, random, seen as DatabaseStorage['scope']),
          random.fork(),
          options,
          `${index}${copy}`,
          acknowledged[index]!,
        ),
      ),
    ),
  )
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    const { reason } = outcome
    const code = isPannierError(reason) ? reason.code : String(reason)
    expect(REFUSED, `seed ${seed}: ${reason}`).toContain(code)
  }
  const [made] = KEYS.map((_, index) => index).filter((index) => acknowledged[index]!.length > 0)
  if (made === undefined) return
  const db = await open(NAME, { storage, ...KEYS[made] })
  const rows = await db.collection('notes').list().toArray()
  expect((await db.check()).problems).toEqual([])
  await db.close()
  const ids = rows.map(({ id }) => id)
  expect(ids, `seed ${seed}`).toEqual(acknowledged.flat().sort())
}

async function use(
  storage: DatabaseStorage,
  random: Random,
  options: OpenOptions | undefined,
  prefix: string,
  acknowledged: string[],
): Promise<void> {
  await pause(random)
  const db = await open(NAME, { storage, ...options })
  try {
    for (let n = 0; n < WRITES; n++) {
      const _id = `${prefix}n${n}`
      await db.collection('notes').insert({ _id })
      acknowledged.push(_id)
    }
  } finally {
    await db.close()
  }
}
