/** Writes and reads of documents through PouchDB's API. */
import { describe, expect, test } from 'vitest'
import { newPouch, type Doc } from './pouch.ts'

describe('writes', () => {
  test('what is written is read, and a document is edited by its revision', async () => {
    const db = newPouch()
    const { rev } = await db.put({ _id: 'a', n: 1 })
    await db.put({ _id: 'a', _rev: rev, n: 2, _conflicts: ['ignored'], _access: ['ann'] })
    expect(await db.get('a')).toEqual({ _id: 'a', _rev: expect.stringMatching(/^2-/), n: 2, _access: ['ann'] })
    expect((await db.post({ n: 3 })).id).toMatch(/^[0-9a-f-]{36}$/)
    expect(await db.info()).toMatchObject({
      doc_count: 2,
      update_seq: 3,
      adapter: 'pannier',
      backend_adapter: 'memory',
    })
  })

  test.each<[string, (db: ReturnType<typeof newPouch>) => Promise<unknown>, object]>([
    ['another revision', (db) => db.put({ _id: 'a' }), { status: 409, name: 'conflict', error: true }],
    ['a document that is not there', (db) => db.get('b'), { status: 404, name: 'not_found', reason: 'missing' }],
    ['a deleted one', (db) => db.get('gone'), { status: 404, reason: 'deleted' }],
    ['a reserved member', (db) => db.put({ _id: 'b', _zing: 1 }), { name: 'doc_validation', reason: '_zing' }],
    ['a reserved id', (db) => db.put({ _id: '_b' }), { status: 400, name: 'bad_request' }],
    ['no id', (db) => db.put({}), { status: 412, name: 'missing_id' }],
    ['a malformed revision', (db) => db.put({ _id: 'b', _rev: 'x' }), { status: 400 }],
    ['no document', (db) => db.put('b' as unknown as Doc), { status: 400 }],
    ['no list', (db) => db.bulkDocs({}), { status: 400 }],
    [
      'a stub of nothing',
      (db) => db.put({ _id: 'b', _attachments: { f: { content_type: 'text/plain', stub: true } } }),
      { status: 412 },
    ],
    [
      'no base64',
      (db) => db.put({ _id: 'b', _attachments: { f: { content_type: 'text/plain', data: '%' } } }),
      { name: 'badarg' },
    ],
    ['an id that is too long', (db) => db.put({ _id: 'b'.repeat(5000) }), { status: 413, name: 'too_large' }],
    ['a removal of nothing', (db) => db.remove('b', '1-abc'), { status: 404 }],
    ['a removal of a deleted one', (db) => db.remove('gone', '1-abc'), { status: 409, name: 'conflict' }],
  ])('%s is the error that PouchDB has for it', async (_, write, error) => {
    const db = newPouch()
    await db.put({ _id: 'a' })
    const { rev } = await db.put({ _id: 'gone' })
    await db.remove('gone', rev)
    await expect(write(db)).rejects.toMatchObject(error)
  })

  test('a malformed document does not keep the others from being written', async () => {
    const db = newPouch()
    const replicated = [
      { _id: 'a', _rev: '1-x' },
      { _id: 'b', _rev: '1-' },
      { _id: 'c', _rev: '1-x', n: Infinity },
    ]
    expect(await db.bulkDocs({ docs: replicated, new_edits: false })).toMatchObject([{ id: 'b', status: 400 }])
    expect((await db.allDocs()).rows.map(({ id }) => id)).toEqual(['a', 'c'])
    expect((await db.get('c'))['n']).toBeNull()
  })

  test('a batch may edit one document several times', async () => {
    const db = newPouch()
    const [first, second] = await db.bulkDocs([
      { _id: 'a', n: 1 },
      { _id: 'a', n: 2 },
    ])
    expect([first!.ok, second!.status]).toEqual([true, 409])
    expect((await db.get('a'))['n']).toBe(1)
  })

  test('a document that its owner changes after the call is stored as it was', async () => {
    const db = newPouch()
    await db.info()
    const doc = { _id: 'a', list: [1] }
    const written = db.put(doc)
    doc.list.push(2)
    await written
    expect((await db.get('a'))['list']).toEqual([1])
  })

  test('callbacks get what promises resolve with', async () => {
    const db = newPouch() as unknown as { put(doc: Doc, callback: (error: unknown, answer: unknown) => void): void }
    const answers: unknown[] = []
    for (const doc of [{ _id: 'a' }, { _id: 'a' }])
      await new Promise<void>((resolve) => {
        db.put(doc, (error, answer) => {
          answers.push(error ?? answer)
          resolve()
        })
      })
    expect(answers).toMatchObject([{ ok: true, id: 'a' }, { status: 409 }])
  })

  test('revisions have random names where the app asks for that, and losing leaves are edited', async () => {
    const db = newPouch({ deterministic_revs: false })
    const { rev } = await db.put({ _id: 'a', n: 1 })
    const other = newPouch({ deterministic_revs: false })
    expect((await other.put({ _id: 'a', n: 1 })).rev).not.toBe(rev)
    await db.bulkDocs([{ _id: 'a', _rev: '1-0' }], { new_edits: false })
    expect(await db.get('a', { conflicts: true })).toMatchObject({ _rev: rev, _conflicts: ['1-0'] })
    await db.put({ _id: 'a', _rev: '1-0', n: 2 })
    expect((await db.get('a'))['n']).toBe(2)
    await expect(db.put({ _id: 'a' })).rejects.toMatchObject({ status: 409 })
  })

  test('local documents keep members that begin with an underscore', async () => {
    const db = newPouch()
    const { rev } = await db.put({ _id: '_local/a', n: 1, _special: 2 })
    expect(await db.get('_local/a')).toEqual({ _id: '_local/a', _rev: rev, n: 1, _special: 2 })
    await db.remove({ _id: '_local/a', _rev: rev })
    await expect(db.get('_local/a')).rejects.toMatchObject({ status: 404 })
  })
})

describe('attachments', () => {
  const data = Buffer.from('hello').toString('base64')

  test('come back as base64, as Buffers, or as stubs', async () => {
    const db = newPouch()
    const { rev } = await db.put({ _id: 'a', _attachments: { f: { content_type: 'text/plain', data } } })
    expect((await db.get('a'))._attachments['f']).toMatchObject({ content_type: 'text/plain', stub: true, length: 5 })
    expect((await db.get('a', { attachments: true }))._attachments['f']!['data']).toBe(data)
    const { doc } = (await db.allDocs({ include_docs: true, attachments: true, binary: true })).rows[0]!
    const content = (doc!['_attachments'] as Record<string, { data: Buffer & { type: string } }>)['f']!.data
    expect([String(content), content.type]).toEqual(['hello', 'text/plain'])
    const read = await db.getAttachment('a', 'f')
    expect([String(read), read.type]).toEqual(['hello', 'text/plain'])
    const { results } = await db.changes({ include_docs: true, attachments: true })
    expect(results[0]!['doc']).toMatchObject({ _rev: rev, _attachments: { f: { data } } })
  })

  test.each([undefined, null, ''])('a content type of %j is left out', async (type) => {
    const db = newPouch()
    await db.bulkDocs([{ _id: 'a', _attachments: { f: { content_type: type, data } } }])
    expect((await db.get('a'))._attachments['f']!['content_type']).toBe('application/octet-stream')
  })

  test('an edit keeps what its stubs name', async () => {
    const db = newPouch()
    await db.putAttachment('a', 'f', undefined as never, data, 'text/plain')
    await db.put({ ...(await db.get('a')), n: 1 })
    expect(String(await db.getAttachment('a', 'f'))).toBe('hello')
  })
})

describe('revisions', () => {
  test('the content of replaced revisions stays until a compaction, and of chosen ones after that', async () => {
    const db = newPouch()
    const { rev } = await db.put({ _id: 'a', n: 1 })
    await db.put({ _id: 'a', _rev: rev, n: 2 })
    expect((await db.get('a', { rev }))['n']).toBe(1)
    await db.compact()
    await expect(db.get('a', { rev })).rejects.toMatchObject({ status: 404 })
    const { _revs_info: history } = (await db.get('a', { revs_info: true })) as Doc
    expect(history).toMatchObject([{ status: 'available' }, { rev, status: 'missing' }])
  })

  test('auto_compaction keeps none', async () => {
    const db = newPouch({ auto_compaction: true })
    const { rev } = await db.put({ _id: 'a', n: 1 })
    await db.put({ _id: 'a', _rev: rev, n: 2 })
    await expect(db.get('a', { rev })).rejects.toMatchObject({ status: 404 })
  })

  test('revs_limit bounds the history', async () => {
    const db = newPouch({ revs_limit: 2 })
    let rev: string | undefined
    for (let n = 0; n < 4; n++) ({ rev } = await db.put({ _id: 'a', n, ...(rev !== undefined && { _rev: rev }) }))
    const { _revisions: history } = (await db.get('a', { revs: true })) as Doc
    expect(history).toMatchObject({ start: 4, ids: { length: 2 } })
  })

  test('replication asks what lacks, gets it and stores it: conflicts included', async () => {
    const [source, target] = [newPouch(), newPouch()]
    await source.bulkDocs(
      [
        { _id: 'a', _rev: '1-x', n: 1 },
        { _id: 'a', _rev: '1-y', n: 2 },
      ],
      { new_edits: false },
    )
    const wanted = { a: ['1-x', '1-y'] }
    expect(await target.revsDiff(wanted)).toEqual({ a: { missing: ['1-x', '1-y'] } })
    const references = wanted.a.map((rev) => ({ id: 'a', rev }))
    const { results } = await source.bulkGet({ docs: [...references, { id: 'b' }], revs: true })
    const docs = results.slice(0, 2).map((result) => result.docs[0]!['ok'] as Doc)
    expect(docs[0]).toEqual({ _id: 'a', _rev: '1-x', n: 1, _revisions: { start: 1, ids: ['x'] } })
    expect(results[2]!.docs).toMatchObject([{ error: { status: 404 } }])
    await target.bulkDocs({ docs, new_edits: false })
    expect(await target.get('a', { conflicts: true })).toMatchObject({ _rev: '1-y', _conflicts: ['1-x'] })
    expect(await target.revsDiff(wanted)).toEqual({})
    expect(await target.get('a', { open_revs: 'all' })).toHaveLength(2)
  })

  test('a purge forgets a leaf with its ancestors', async () => {
    const db = newPouch()
    const first = await db.put({ _id: 'a', n: 1 })
    const second = await db.put({ _id: 'a', _rev: first.rev, n: 2 })
    const answer = { ok: true, deletedRevs: [second.rev, first.rev], documentWasRemovedCompletely: true }
    expect(await db.purge('a', second.rev)).toEqual(answer)
    await expect(db.get('a')).rejects.toMatchObject({ reason: 'missing' })
  })
})

describe('lists', () => {
  test.each<[object, readonly string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ startkey: 'b' }, ['b', 'c']],
    [{ startkey: 'b', endkey: 'c', inclusive_end: false }, ['b']],
    [{ startkey: 'b', descending: true }, ['b', 'a']],
    [{ skip: 1, limit: 1 }, ['b']],
    [{ limit: 0 }, []],
    [{ startkey: 'c', endkey: 'a' }, []],
    [{ key: 'b' }, ['b']],
    [{ key: 'gone' }, []],
  ])('allDocs(%j)', async (options, ids) => {
    const db = newPouch()
    await db.bulkDocs(['a', 'b', 'c', 'gone'].map((_id) => ({ _id })))
    await db.remove(await db.get('gone'))
    const { rows, total_rows: total } = await db.allDocs(options)
    expect([rows.map(({ id }) => id), total]).toEqual([ids, 3])
  })

  test('by keys: what is missing or deleted has a row', async () => {
    const db = newPouch()
    const { rev } = await db.put({ _id: 'a' })
    const deleted = await db.remove('a', rev)
    const { rows } = await db.allDocs({ keys: ['b', 'a'], include_docs: true })
    expect(rows).toEqual([
      { key: 'b', error: 'not_found' },
      { id: 'a', key: 'a', value: { rev: deleted.rev, deleted: true }, doc: null },
    ])
  })
})
