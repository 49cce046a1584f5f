/** `query()` of PouchDB's map/reduce plug-in, on views of the library. */
import { memory } from 'pannier/memory'
import { describe, expect, test, vi } from 'vitest'
import { newPouch, type Doc, type Pouch } from './pouch.ts'

const BY_N = { map: 'function (doc) { emit(doc.n, doc._id) }', reduce: '_count' }

async function numbered(count: number): Promise<Pouch> {
  const db = newPouch()
  await db.bulkDocs(Array.from({ length: count }, (_, n) => ({ _id: `d${n}`, n: n % 3 })))
  await db.put({ _id: '_design/v', views: { v: BY_N } })
  return db
}

describe('query()', () => {
  test.each<[object, unknown]>([
    [
      { reduce: false, key: 1 },
      [
        { id: 'd1', key: 1, value: 'd1' },
        { id: 'd4', key: 1, value: 'd4' },
      ],
    ],
    [
      { group: true },
      [
        { key: 0, value: 2 },
        { key: 1, value: 2 },
        { key: 2, value: 2 },
      ],
    ],
    [{}, [{ key: null, value: 6 }]],
    [{ reduce: false, startkey: 2, descending: true, endkey: 2, limit: 1 }, [{ id: 'd5', key: 2, value: 'd5' }]],
    [{ reduce: false, keys: [] }, []],
  ])('a view of a design document: %j', async (options, rows) => {
    const db = await numbered(6)
    expect((await db.query('v', options)).rows).toEqual(rows)
  })

  test('rows with documents', async () => {
    const db = await numbered(1)
    const { rows, total_rows: total } = await db.query('v', { reduce: false, include_docs: true })
    expect([total, rows[0]!.doc]).toMatchObject([1, { _id: 'd0', n: 0 }])
  })

  test.each<[unknown, object, object]>([
    ['none', {}, { status: 404, reason: 'missing' }],
    ['v/none', {}, { status: 404, name: 'not_found' }],
    ['v', { startkey: 2, endkey: 1 }, { status: 400, name: 'query_parse_error' }],
    ['v', { include_docs: true }, { status: 400 }],
    ['v', { limit: -1, reduce: false }, { status: 400 }],
    [{ map: BY_N.map, reduce: '_sum' }, {}, { status: 500, name: 'invalid_value' }],
  ])('%j, %j: PouchDB has an error for it', async (view, options, error) => {
    const db = await numbered(2)
    await expect(db.query(view, options)).rejects.toMatchObject(error)
  })

  test('a function of the app sees what is around it, as it is at each query', async () => {
    const db = await numbered(1)
    let field = 'n'
    const view = (doc: Doc, emit: (key: unknown) => void): void => emit(doc[field])
    expect((await db.query(view)).rows[0]!.key).toBe(0)
    field = '_id'
    expect((await db.query(view)).rows[0]!.key).toBe('d0')
  })

  test('functions of design documents see none of the globals of the process', async () => {
    const db = await numbered(1)
    const { rows } = await db.query({ map: 'function (doc) { emit(typeof process); isArray([]); sum([1]) }' })
    expect(rows[0]!.key).toBe('undefined')
  })

  test('strings are in the order of their code units', async () => {
    const db = newPouch()
    const ids = ['\uffff', '\ue000', '\u{1f600}', '\u{10ffff}', '\ud7ff', 'a']
    await db.bulkDocs(ids.map((_id) => ({ _id })))
    const { rows } = await db.query({ map: 'function (doc) { emit(doc._id) }' })
    expect(rows.map(({ key }) => key)).toEqual(ids.toSorted())
  })

  test('a function that throws leaves its document out, and is heard of', async () => {
    const db = await numbered(2)
    const heard = vi.fn()
    db.on('error', heard)
    const { rows } = await db.query({ map: 'function (doc) { if (doc.n === 1) throw new Error("no"); emit(doc._id) }' })
    expect([rows.length, heard.mock.calls.length]).toEqual([1, 1])
  })

  test('a view follows writes and its source; viewCleanup drops those without a design document', async () => {
    const db = await numbered(3)
    expect((await db.query('v')).rows[0]!.value).toBe(3)
    const design = await db.get('_design/v')
    await db.put({ ...design, views: { v: { map: 'function (doc) { if (doc.n) emit(doc.n) }', reduce: '_sum' } } })
    expect((await db.query('v', { reduce: false })).rows.map(({ key }) => key)).toEqual([1, 2])
    await db.remove(await db.get('_design/v'))
    await db.viewCleanup()
    expect(await db.get('_local/pouchdb-views')).toMatchObject({ names: [] })
    await expect(db.query('v')).rejects.toMatchObject({ status: 404, reason: 'deleted' })
  })

  test('viewCleanup drops a view that another instance made again after a drop', async () => {
    const storage = memory()
    const [one, other] = [newPouch({ storage }), newPouch({ storage })]
    const names = async (): Promise<unknown> => (await one.get('_local/pouchdb-views'))['names']
    const design = { _id: '_design/v', views: { v: BY_N } }
    await one.put(design)
    for (const db of [one, other]) await db.query('v')
    await one.remove(await one.get('_design/v'))
    await one.viewCleanup()
    expect(await names()).toEqual([])
    await one.put(design)
    await other.query('v')
    expect(await names()).toEqual(['pouchdb:v/v'])
  })

  test.each<[unknown]>([[null], [1], [{}], [{ map: 1 }], [{ map: null }], [{ map: { fields: null } }]])(
    'the view %j of a design document is an error of its own, and hinders nothing else',
    async (malformed) => {
      const db = await numbered(1)
      await db.put({ _id: '_design/bad', language: 'query', views: { bad: malformed } })
      await expect(db.query('bad')).rejects.toMatchObject({ status: 404, name: 'not_found' })
      expect((await db.query('v')).rows).toHaveLength(1)
      expect(await db.viewCleanup()).toEqual({ ok: true })
    },
  )
})
