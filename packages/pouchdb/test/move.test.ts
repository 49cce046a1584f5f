/** Moving databases of PouchDB's other adapters. */
import { memory } from 'pannier/memory'
import { movePouch, type MovableDatabase } from 'pouchdb-adapter-pannier/move'
import { describe, expect, test } from 'vitest'
import '../../server/testing/pouch.js'
import { newPouch, PouchDB, type Doc, type Pouch } from './pouch.ts'

let made = 0
type Movable = Pouch & MovableDatabase

/** With a conflict, a tombstone, an attachment and design documents. */
async function oldDatabase(): Promise<Movable> {
  const db = new PouchDB(`old${++made}`, { adapter: 'memory' })
  await db.bulkDocs(Array.from({ length: 30 }, (_, n) => ({ _id: `d${n}`, n })))
  await db.bulkDocs([{ _id: 'd1', _rev: '1-zz', n: 100 }], { new_edits: false })
  await db.remove(await db.get('d2'))
  await db.putAttachment('d3', 'f', (await db.get('d3'))._rev, Buffer.from('hello'), 'text/plain')
  await db.put({ _id: '_design/v', views: { v: { map: 'function (doc) { emit(doc.n) }' } } })
  return db as Movable
}

function newTarget(): Movable {
  return newPouch() as Movable
}

describe('movePouch()', () => {
  test('all revisions arrive, progress is reported, and the source is deleted at the end', async () => {
    const source = await oldDatabase()
    const target = newTarget()
    const reported: number[] = []
    await movePouch(source, target, { batchSize: 7, deleteSource: true, onProgress: (done) => reported.push(done) })
    expect(await target.info()).toMatchObject({ doc_count: 30 })
    expect(await target.get('d1', { conflicts: true })).toMatchObject({ _rev: '1-zz', _conflicts: { length: 1 } })
    await expect(target.get('d2')).rejects.toMatchObject({ reason: 'deleted' })
    expect(String(await target.getAttachment('d3', 'f'))).toBe('hello')
    expect((await target.query('v', { key: 100 })).rows).toHaveLength(1)
    expect(reported.length).toBeGreaterThan(5)
    expect(reported).toEqual(reported.toSorted((left, right) => left - right))
    expect([reported.at(-1), reported.filter((done) => done === 1).length]).toEqual([1, 1])
    await expect(source.get('d1')).rejects.toThrow('database is destroyed')
  })

  test('a move that was stopped continues, and deletes nothing before', async () => {
    const source = await oldDatabase()
    const target = newTarget()
    const stopping = new AbortController()
    const moving = movePouch(source, target, {
      batchSize: 5,
      deleteSource: true,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    })
    await expect(moving).rejects.toThrow()
    expect((await source.info()).doc_count).toBe(30)
    const there = (await target.info()).doc_count
    expect(there).toBeLessThan(30)
    await movePouch(source, target)
    expect(await target.info()).toMatchObject({ doc_count: 30 })
  })

  test('a signal that is aborted before leaves the target empty', async () => {
    const [source, target] = [await oldDatabase(), newTarget()]
    await expect(movePouch(source, target, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    expect(await target.info()).toMatchObject({ doc_count: 0 })
  })

  test.each([
    ['a winner', 'd4', undefined],
    ['a revision in conflict', 'd1', /^1-[^z]/],
    ['a tombstone', 'd2', undefined],
  ])('%s that is another one in the copy is no reason to delete the source', async (_, id, rev) => {
    const [source, target] = [await oldDatabase(), newTarget()]
    const { bulkGet } = target
    target.bulkGet = async (options) => {
      const found = await bulkGet.call(target, options)
      for (const { docs } of found.results)
        for (const { ok } of docs as readonly { ok?: Doc }[])
          if (ok?._id === id && (rev?.test(ok._rev!) ?? true)) ok['n'] = 'other'
      return found as never
    }
    await expect(movePouch(source, target, { deleteSource: true })).rejects.toMatchObject({
      name: 'not_the_same',
      reason: expect.stringContaining(`'${id}'`),
    })
    expect((await source.info()).doc_count).toBe(30)
  })

  test('a database does not move into itself, by another instance either', async () => {
    const storage = memory()
    const [source, target] = [newPouch({ storage }) as Movable, newPouch({ storage }) as Movable]
    await source.put({ _id: 'a' })
    for (const same of [source, target])
      await expect(movePouch(source, same, { deleteSource: true })).rejects.toMatchObject({ status: 400 })
    expect(await target.get('a')).toMatchObject({ _id: 'a' })
  })

  test('attachments without a type and numbers that JSON does not have are no difference', async () => {
    const [source, target] = [await oldDatabase(), newTarget()]
    const data = Buffer.from('hello').toString('base64')
    await source.put({ _id: 'untyped', _attachments: { f: { data }, g: { content_type: '', data } } })
    const { bulkGet } = source
    source.bulkGet = async (options) => {
      const found = await bulkGet.call(source, options)
      for (const { docs } of found.results)
        for (const { ok } of docs as readonly { ok?: Doc }[]) if (ok?._id === 'd5') ok['n'] = Number.NaN
      return found as never
    }
    await movePouch(source, target, { deleteSource: true })
    expect(await target.get('d5')).toMatchObject({ n: null })
    expect(await target.get('untyped', { attachments: true })).toMatchObject({
      _attachments: { f: { data }, g: { data } },
    })
  })

  test('a revision that the source does not give is no reason to delete it', async () => {
    const [source, target] = [await oldDatabase(), newTarget()]
    source.bulkGet = () => Promise.resolve({ results: [] })
    const moving = movePouch(source, target, { deleteSource: true })
    await expect(moving).rejects.toMatchObject({ name: 'not_the_same' })
    expect((await source.info()).doc_count).toBe(30)
  })

  test('the new database may have the name of the old one, and lives when that is destroyed', async () => {
    const source = await oldDatabase()
    const target = new PouchDB(source.name, { adapter: 'pannier', storage: memory() }) as Movable
    const next = Promise.withResolvers<string>()
    const ends: string[] = []
    await target.info()
    target.changes({ live: true, since: 100 }).on('change', ({ id }) => next.resolve(id))
    for (const [name, db] of Object.entries({ source, target })) db.on('destroyed', () => ends.push(name))
    await movePouch(source, target, { deleteSource: true })
    expect(await target.info()).toMatchObject({ doc_count: 30 })
    expect(ends).toEqual(['source'])
    for (let n = 0; n < 100; n++) await target.put({ _id: `later${n}` })
    expect(await next.promise).toMatch('later')
    await target.destroy()
    expect(new Set(ends)).toEqual(new Set(['source', 'target']))
  })
})
