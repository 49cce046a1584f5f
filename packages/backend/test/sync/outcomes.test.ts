/** Goal: what is known of a transaction is there for as long as promised, and then leaves nothing behind. */
import { expect, test } from 'vitest'
import { Outcomes } from '../../src/sync/push/outcomes.ts'
import { openWorld } from '../records/world.ts'

const DEVICE = 'device'
const KEEP_MS = 90 * 24 * 3600 * 1000
const KNOWN = { digest: 'd', outcome: { status: 'ok', revs: ['1-a'] } } as const
/** More than are removed in one step. */
const OLD = 1001

test('an outcome is removed when it is older than promised, and not before', async () => {
  const { database, close } = await openWorld([])
  try {
    const outcomes = new Outcomes(database)
    const at = 1_000_000
    await database.transaction(async (place) => {
      for (let n = 1; n <= OLD; n++) await outcomes.keep(place, DEVICE, n, KNOWN, at)
      await outcomes.keep(place, DEVICE, OLD + 1, KNOWN, at + 1)
    })
    const numbers = Array.from({ length: OLD + 1 }, (_, index) => index + 1)
    const known = async (): Promise<number[]> => {
      const found = await outcomes.get(DEVICE, numbers)
      return numbers.filter((_, index) => found[index] !== undefined)
    }
    await outcomes.removeOld(at + KEEP_MS)
    expect(await known()).toEqual(numbers)
    await outcomes.removeOld(at + KEEP_MS + 1)
    expect(await known()).toEqual([OLD + 1])
    expect([await outcomes.forgottenTo(DEVICE), await outcomes.forgottenTo('other')]).toEqual([OLD, 0])
    // The number may be judged again.
    await database.transaction((place) => outcomes.keep(place, DEVICE, 1, KNOWN, at + KEEP_MS))
    expect(await known()).toEqual([1, OLD + 1])
    expect((await database.collection('$outcomes').get(`${DEVICE}/1`))?._rev).toMatch(/^1-/)
  } finally {
    await close()
  }
})
