/** Goal: a PostgreSQL that fails over to a server which has lost something, in the middle of a move, ends the move. Nothing is lost by it. */
import { expect, test } from 'vitest'
import { PostgresServer } from '../../../tools/test/postgres.ts'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'
import { moveDatabase, type MoveStep } from '../src/move.ts'
import { onPostgres } from './on-postgres.ts'
import { moved, placesAt } from './on-several.ts'

/** As a server does that is promoted: what `sql` takes back never came there. */
async function failOver(server: PostgresServer, database: string, sql: string): Promise<void> {
  server.sql(database, sql)
  await server.stop()
  await server.begin()
}

const at = (step: MoveStep, work: () => Promise<void>) => async (now: MoveStep) => {
  if (now === step) await work()
}

onPostgres((get) => {
  test('the target, and then the source', async () => {
    const { server } = get()
    await using second = await PostgresServer.start()
    const urls = [server.make('first'), second.make('second')]
    const storage = postgres(urls)
    const places = placesAt(urls)
    let name = ''
    for (
      let n = 0;
      (await storage.placeOf(name)) === undefined || !(await storage.placeOf(name))!.endsWith('first');
      n++
    ) {
      name = `shop ${n}`
      await using db = await open(name, { storage, durability: 'strict' })
      await db
        .collection('items')
        .insert(Array.from({ length: 500 }, (_, i) => ({ _id: `i${i}`, text: 'x'.repeat(200) })))
    }
    await using db = await open(name, { storage, durability: 'strict' })
    const items = db.collection<{ text: string }>('items')
    const lost = at('copied', () => failOver(second, 'second', 'delete from pannier.page'))
    await expect(moveDatabase(places, name, places.all[1]!, { onStep: lost })).rejects.toMatchObject({
      code: 'PANNIER_STALE',
    })
    await moved(() => moveDatabase(places, name, places.all[1]!, {}))
    expect(await storage.placeOf(name)).toMatch(/second$/)
    expect((await db.check()).problems).toEqual([])

    // The source forgets that its writers were stopped, when the move has looked for the last time.
    for (const isNew of [false, true]) {
      const forgotten = at('complete', async () => {
        await failOver(second, 'second', 'update pannier.fence set away = null')
        await using other = isNew ? await open(name, { storage: postgres(urls), durability: 'strict' }) : undefined
        await (other ?? db).collection<{ text: string }>('items').insert({ _id: `late ${isNew}`, text: 'acknowledged' })
      })
      await expect(moveDatabase(places, name, places.all[0]!, { onStep: forgotten })).rejects.toMatchObject({
        code: 'PANNIER_STALE',
      })
      await using again = await open(name, { storage: postgres(urls) })
      expect(await again.collection('items').get(`late ${isNew}`)).toMatchObject({ text: 'acknowledged' })
    }
    expect(await items.find().count()).toBe(502)
    places.leave()
  })
})
