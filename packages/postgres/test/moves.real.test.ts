/** Goal: what follows a database follows it when it moves: readers, live queries, feeds, keys. And a move says what it can't do. */
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'
import { moveDatabase, type MoveStep } from '../src/move.ts'
import { onPostgres } from './on-postgres.ts'
import { copiesOf, moved, placesAt, several } from './on-several.ts'

onPostgres((get) => {
  test.each([true, false])(
    'a server that only listens hears of writes at the new place (NOTIFY: %s)',
    async (notify) => {
      const urls = several(get(), 2)
      const options = { notify, pollMs: 100 }
      await using writing = await open('shop', { storage: postgres(urls, options) })
      await using listening = await open('shop', { storage: postgres(urls, options) })
      await writing.collection('items').insert({ _id: 'a' })
      const seen: string[] = []
      const stop = new AbortController()
      const feed = (async () => {
        for await (const { id } of listening.collection('items').changes({ live: true, signal: stop.signal }))
          seen.push(id)
      })().catch(() => {})
      await expect.poll(() => seen).toEqual(['a'])
      const at = copiesOf(get(), urls, 'shop')[0]!.at
      const places = placesAt(urls)
      // The second one dies when it has switched: nobody tells.
      await moved(() => moveDatabase(places, 'shop', places.all[1 - at]!, {}))
      await writing.collection('items').insert({ _id: 'b' })
      await expect.poll(() => seen).toEqual(['a', 'b'])
      await new Promise<void>((resolve, reject) => {
        const onStep = (step: MoveStep): Promise<void> | undefined => {
          if (step !== 'switched') return undefined
          resolve()
          return new Promise(() => {})
        }
        moved(() => moveDatabase(places, 'shop', places.all[at]!, { onStep })).catch(reject)
      })
      await using other = await open('shop', { storage: postgres(urls, options) })
      await other.collection('items').insert({ _id: 'c' })
      await expect.poll(() => seen).toEqual(['a', 'b', 'c'])
      stop.abort()
      await feed
      places.leave()
    },
  )

  test('an encrypted database moves without its key, and pages that are sealed again meanwhile are the new ones', async () => {
    const urls = several(get(), 2)
    const encryption = { password: 'the first password' }
    const places = placesAt(urls)
    await using db = await open('secret', { storage: postgres(urls), encryption, cacheBytesMax: 1024 * 1024 })
    const items = db.collection('items')
    await items.insert(Array.from({ length: 2000 }, (_, n) => ({ _id: `i${n}`, text: 'x'.repeat(1000) })))
    const at = copiesOf(get(), urls, 'secret')[0]!.at
    await moved(() =>
      moveDatabase(places, 'secret', places.all[1 - at]!, {
        onStep: async (step) => {
          if (step === 'copied') await db.encryption!.rotateKey()
        },
      }),
    )
    await items.insert({ _id: 'after' })
    await using again = await open('secret', { storage: postgres(urls), encryption })
    expect(await again.collection('items').find().count()).toBe(2001)
    expect((await again.check()).problems).toEqual([])
    places.leave()
  })

  test('a move that has died with the writers stopped is made again, also if nobody has come since', async () => {
    const urls = several(get(), 2)
    const places = placesAt(urls)
    {
      await using db = await open('quiet', { storage: postgres(urls) })
      await db.collection('items').insert({ _id: 'a' })
    }
    const at = copiesOf(get(), urls, 'quiet')[0]!.at
    await new Promise<void>((resolve) => {
      const onStep = (step: MoveStep): Promise<void> | undefined => {
        if (step !== 'complete') return undefined
        resolve()
        return new Promise(() => {})
      }
      moveDatabase(places, 'quiet', places.all[1 - at]!, { onStep }).catch(() => {})
    })
    expect(copiesOf(get(), urls, 'quiet').map(({ isOpen }) => isOpen)).toEqual([false, false])
    await postgres(urls).move('quiet', urls[1 - at]!)
    expect(copiesOf(get(), urls, 'quiet')).toEqual([{ at: 1 - at, isOpen: true }])
    await using db = await open('quiet', { storage: postgres(urls) })
    expect(await db.collection('items').get('a')).toBeDefined()
    places.leave()
  })

  test('a move that can not be made says why', async () => {
    const urls = several(get(), 2)
    const storage = postgres(urls)
    await expect(storage.move('nothing', urls[1]!)).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
    expect(() => storage.move('nothing', 'postgres://elsewhere/x')).toThrow(
      /to must be the URL of a PostgreSQL of this storage/,
    )
    expect(() => storage.move('nothing', 'nonsense')).toThrow(/must be like postgres:/)
  })
})
