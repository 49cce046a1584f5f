/** Moving databases of PouchDB's other adapters. */
import memoryAdapter from 'pouchdb-adapter-memory'
import pouchdbReplication from 'pouchdb-replication'
import { movePouch, type MovableDatabase } from 'pouchdb-adapter-pannier/move'
import { describe, expect, test } from 'vitest'
import { newPouch, PouchDB, type Doc, type Pouch } from './pouch.ts'

PouchDB.plugin(memoryAdapter)
PouchDB.plugin(pouchdbReplication)

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

  test('a copy that lacks what the source has is no reason to delete it', async () => {
    const source = await oldDatabase()
    const target = newTarget()
    const { allDocs } = target
    target.allDocs = async (options: object) => {
      const found = (await allDocs.call(target, options)) as { rows: { doc?: Doc }[] }
      return { ...found, rows: found.rows.map((row) => ({ ...row, doc: { ...row.doc, n: 'other' } })) } as never
    }
    await expect(movePouch(source, target, { deleteSource: true })).rejects.toMatchObject({ name: 'not_the_same' })
    expect((await source.info()).doc_count).toBe(30)
  })
})
