/**
 * Goal: an id or a revision that the library refuses is one that no document has. Method: each read is asked for such a one, beside others.
 * The answers are those of PouchDB's memory adapter; `adapter.diff.real.test.ts` asks it.
 */
import { describe, expect, test } from 'vitest'
import { newPouch, type Pouch } from './pouch.ts'

const MISSING = { status: 404, name: 'not_found', message: 'missing' }
const NAMES = ['_x', '', '_design', '__proto__', 'x'.repeat(5000)]
const LOCALS = ['_local/', `_local/${'x'.repeat(5000)}`]

const READS: Readonly<Record<string, (db: Pouch, id: string) => Promise<unknown>>> = {
  'get()': (db, id) => db.get(id),
  'get() of a revision': (db, id) => db.get(id, { rev: '1-a' }),
  'get() of all leaves': (db, id) => db.get(id, { open_revs: 'all' }),
  'getAttachment()': (db, id) => db.getAttachment(id, 'f'),
  'purge()': (db, id) => db.purge(id, '1-a'),
}

async function filled(): Promise<Pouch> {
  const db = newPouch()
  await db.bulkDocs({ docs: ['a', 'b'].map((_id) => ({ _id, _rev: '1-a' })), new_edits: false })
  return db
}

describe.each(NAMES)('the id %#', (id) => {
  test.each(Object.keys(READS))('%s finds no document', async (name) => {
    await expect(READS[name]!(await filled(), id)).rejects.toMatchObject(MISSING)
  })

  test('each id of bulkGet() gets an answer of its own', async () => {
    const db = await filled()
    const { results } = await db.bulkGet({ docs: [{ id: 'a', rev: '1-a' }, { id, rev: '1-a' }, { id: 'b' }] })
    expect(results).toEqual([
      { id: 'a', docs: [{ ok: { _id: 'a', _rev: '1-a' } }] },
      { id, docs: [{ missing: '1-a' }] },
      { id: 'b', docs: [{ ok: { _id: 'b', _rev: '1-a' } }] },
    ])
    const others = await db.bulkGet({ docs: [{ id }, { id: 'a', rev: '1-a' }] })
    expect(others.results).toMatchObject([
      { id, docs: [{ error: MISSING }] },
      { id: 'a', docs: [{ ok: {} }] },
    ])
  })

  test('lists, feeds and views leave it out', async () => {
    const db = await filled()
    expect((await db.changes({ doc_ids: ['a', id, 5] })).results).toMatchObject([{ id: 'a' }])
    if (id === '') return
    const { rows } = await db.allDocs({ keys: ['a', id] })
    expect(rows).toMatchObject([{ id: 'a' }, { key: id, error: 'not_found' }])
    const view = (_: unknown, emit: (key: unknown, value: unknown) => void): void => emit('k', { _id: id })
    expect((await db.query(view, { include_docs: true })).rows[0]!['doc'] ?? null).toBe(null)
  })
})

test('a malformed revision is an error of its id alone', async () => {
  const db = await filled()
  const { results } = await db.bulkGet({ docs: [{ id: 'a', rev: 'odd' }, { id: 'b', rev: '1-a' }, { id: 5 }] })
  expect(results).toMatchObject([
    { id: 'a', docs: [{ error: { status: 400 } }] },
    { id: 'b', docs: [{ ok: { _id: 'b' } }] },
    { id: 5, docs: [{ error: { status: 400 } }] },
  ])
})

test('bulkGet() answers for a document once, and with revisions for these alone', async () => {
  const db = await filled()
  await db.bulkDocs({ docs: [{ _id: 'a', _revisions: { start: 2, ids: ['b', 'a'] } }], new_edits: false })
  const ok = { _id: 'a', _rev: '2-b' }
  const latest = ['1-a', '2-b'].map((rev) => ({ id: 'a', rev }))
  expect((await db.bulkGet({ docs: latest, latest: true })).results).toEqual([{ id: 'a', docs: [{ ok }] }])
  expect((await db.bulkGet({ docs: [{ id: 'a' }, { id: 'a' }] })).results).toEqual([{ id: 'a', docs: [{ ok }] }])
  expect((await db.bulkGet({ docs: [{ id: 'a', rev: '2-b' }, { id: 'a' }] })).results).toHaveLength(1)
})

test('a missing revision of a document that is there has no reason, as in PouchDB', async () => {
  const failure = await (await filled()).get('a', { rev: '2-x' }).catch((error: unknown) => error)
  expect(failure).toMatchObject(MISSING)
  expect(failure).not.toHaveProperty('reason')
})

test.each(LOCALS)('no local document has the id %#', async (id) => {
  const db = await filled()
  await expect(db.get(id)).rejects.toMatchObject(MISSING)
  await expect(db.remove(id, '0-1')).rejects.toMatchObject(MISSING)
})

test.each(['', null])('a document without an id gets one: %s', async (_id) => {
  const [answer] = await (await filled()).bulkDocs([{ _id }])
  expect(answer).toMatchObject({ ok: true, id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string })
})

// PouchDB gathers the answers in an object, whose prototype a document `__proto__` would become.
test.each(NAMES.filter((id) => id !== '__proto__'))(
  'revsDiff() says that revisions of the id %# are missing',
  async (id) => {
    const asked = { a: ['1-a', '2-b'], [id]: ['1-a', 'odd'], b: ['odd'], c: ['1-c'] }
    expect(await (await filled()).revsDiff(asked)).toEqual({
      a: { missing: ['2-b'] },
      [id]: { missing: ['1-a', 'odd'] },
      b: { missing: ['odd'] },
      c: { missing: ['1-c'] },
    })
  },
)
