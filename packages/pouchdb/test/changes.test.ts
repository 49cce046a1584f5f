/** The change feed, and the end of databases. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { describe, expect, test } from 'vitest'
import { newPouch, PouchDB, type Doc } from './pouch.ts'

describe('changes', () => {
  test('once: with documents, filters and limits', async () => {
    const db = newPouch()
    await db.bulkDocs(Array.from({ length: 6 }, (_, n) => ({ _id: `d${n}`, n })))
    const ids = async (options: object): Promise<unknown[]> => (await db.changes(options)).results.map(({ id }) => id)
    expect(await ids({ since: 4 })).toEqual(['d4', 'd5'])
    expect(await ids({ limit: 2, descending: true })).toEqual(['d5', 'd4'])
    expect(await ids({ filter: (doc: Doc) => Number(doc['n']) % 2 === 0, limit: 2 })).toEqual(['d0', 'd2'])
    expect(await ids({ doc_ids: ['d3'] })).toEqual(['d3'])
    expect(await db.changes({ since: 100 })).toEqual({ results: [], last_seq: 100 })
  })

  test('live: the instances of a name hear of each other, until the feed is cancelled', async () => {
    const storage = memory()
    const [one, other] = [newPouch({ storage }), newPouch({ storage })]
    const heard: unknown[] = []
    let next = Promise.withResolvers<void>()
    const feed = other.changes({ live: true, since: 1 }).on('change', ({ id, seq }) => {
      heard.push([id, seq])
      next.resolve()
    })
    await one.put({ _id: 'below' })
    for (const _id of ['a', 'b']) {
      next = Promise.withResolvers()
      await one.put({ _id })
      await next.promise
    }
    feed.cancel()
    await one.put({ _id: 'c' })
    expect(heard).toEqual([
      ['a', 2],
      ['b', 3],
    ])
  })
})

describe('the end of a database', () => {
  test('one instance closes, and the other stays open', async () => {
    const storage = memory()
    const [one, other] = [newPouch({ storage }), newPouch({ storage })]
    await one.put({ _id: 'a' })
    await one.close()
    expect(await other.get('a')).toMatchObject({ _id: 'a' })
    await expect(one.get('a')).rejects.toThrow('database is closed')
    await other.close()
    expect(await newPouch({ storage }).get('a')).toMatchObject({ _id: 'a' })
  })

  test('a database that is destroyed is empty when it is made again', async () => {
    const storage = memory()
    const db = newPouch({ storage })
    const destroyed = Promise.withResolvers<unknown>()
    newPouch({ storage }).on('destroyed', destroyed.resolve)
    await db.put({ _id: 'a' })
    await db.destroy()
    await destroyed.promise
    expect(await newPouch({ storage }).info()).toMatchObject({ doc_count: 0 })
  })

  test('destroyed by another owner: the instances say so once, and a new one is empty', async () => {
    const storage = memory()
    const instances = [1, 2].map(() => new PouchDB('elsewhere', { adapter: 'pannier', storage }))
    const [one, two] = instances
    await one!.put({ _id: 'a' })
    await two!.info()
    let told = 0
    const both = Promise.withResolvers<void>()
    for (const db of instances) db.on('destroyed', () => ++told === instances.length && both.resolve())
    const owner = await open('elsewhere', { storage })
    await owner.destroy()
    await both.promise
    await expect(one!.get('a')).rejects.toThrow('database is destroyed')
    expect(await new PouchDB('elsewhere', { adapter: 'pannier', storage }).info()).toMatchObject({ doc_count: 0 })
    expect(told).toBe(2)
  })

  test('an encrypted database opens with its password only, also while it is open', async () => {
    const storage = memory()
    const encryption = { password: 'correct horse', derivation: 'pbkdf2' }
    await newPouch({ storage, encryption }).put({ _id: 'a' })
    expect(await newPouch({ storage, encryption: { ...encryption } }).get('a')).toMatchObject({ _id: 'a' })
    const wrong = newPouch({ storage, encryption: { password: 'wrong' } })
    await expect(wrong.get('a')).rejects.toMatchObject({ status: 401, name: 'unauthorized' })
    await expect(newPouch({ storage }).get('a')).rejects.toMatchObject({ status: 401 })
  })
})
