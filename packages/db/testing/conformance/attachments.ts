/**
 * Conformance of attachments on every storage: they belong to their document's revisions, are kept and dropped as in
 * CouchDB, and leave nothing behind.
 */
import type { Database } from '../../src/database/database.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { JsonObject, Stored } from '../../src/database/collection/document-types.ts'
import { ATTACHMENTS_PER_DOCUMENT_MAX } from '../../src/document/attachments/attachment-section.ts'
import { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import type { SuiteContext } from '../suite.ts'
import { checkedCases } from './database-cases.ts'

const LARGE = 1_500_000

export function attachmentSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  const onDatabase = checkedCases({ test, create })
  /** Each case ends with the integrity check, and again with nothing left when every document is gone. */
  const check: Case = (name, body) =>
    onDatabase(name, async (db) => {
      const docs = db.collection('docs')
      await body(docs, db)
      assertEqual((await db.check()).problems, [])
      await docs.delete(await docs.find({}).toArray())
    })
  inlineCases(check)
  singleCases(check)
  lifeCases(check)
  revisionCases(check)
  transactionCases(check)
}

type Case = (name: string, body: (docs: Collection<JsonObject>, db: Database) => Promise<void>) => void

function inlineCases(check: Case): void {
  check('inline attachments of every kind; documents are read with stubs', async (docs) => {
    await docs.insert({
      _id: 'a',
      x: 1,
      _attachments: {
        text: { data: 'aGVsbG8=', contentType: 'text/plain' },
        bytes: { data: bytesOf(3, 1000) },
        blob: { data: new Blob(['blob'], { type: 'text/x' }) },
        stream: { data: new Blob([bytesOf(1, LARGE)]).stream() },
        empty: { data: '' },
      },
    })
    const document = await docs.get('a')
    assertEqual(document?.['x'], 1)
    assertEqual(document?._attachments?.['text'], {
      contentType: 'text/plain',
      digest: 'md5-XUFAKrxLKna5cZ2REBfFkg==',
      length: 5,
      revpos: 1,
      stub: true,
    })
    assertEqual(Object.keys(document?._attachments ?? {}).sort(), ['blob', 'bytes', 'empty', 'stream', 'text'])
    assertEqual(await bytesIn(docs, 'a', 'stream'), bytesOf(1, LARGE))
    assertEqual(await bytesIn(docs, 'a', 'empty'), new Uint8Array(0))
    assertEqual(await (await docs.getAttachment('a', 'blob'))?.text(), 'blob')
    assertEqual((await docs.find({ x: 1 }).toArray())[0]?._attachments, document?._attachments)
    assertEqual(await docs.find({ x: 1 }).count(), 1)
    const projected = await docs.find({ x: 1 }).fields('_attachments').toArray()
    assertEqual(projected as unknown, [{ _attachments: document?._attachments }])
  })
  check('every read names the content type contentType', async (docs) => {
    const { rev } = await docs.insert({ _id: 'a', _attachments: { x: { data: 'eA==', contentType: 'text/x' } } })
    const [listed] = await docs.list({ docs: true }).toArray()
    const [change] = await docs.changes({ docs: true }).toArray()
    const [revision] = await docs.getRevisions('a', [rev])
    const [row] = (await docs.mapReduce({ map: (doc, emit) => emit(doc['_attachments']) }, { docs: true })).rows
    const inDocuments = [
      await docs.get('a'),
      await docs.get('a', { attachments: 'bytes' }),
      await docs.find({}).first(),
      listed?.doc,
      change?.doc,
      revision !== undefined && 'ok' in revision ? revision.ok : undefined,
      row?.doc,
      { _attachments: row?.key },
    ]
    for (const document of inDocuments) {
      const { x } = (document as Stored<JsonObject>)._attachments!
      assertEqual([x?.contentType, 'content_type' in x!], ['text/x', false])
    }
  })
  check('a write keeps what it names by a stub, and drops the rest', async (docs) => {
    await docs.insert({ _id: 'a', _attachments: { x: { data: 'eA==' }, y: { data: 'eQ==' }, z: { data: 'eg==' } } })
    const first = await stored(docs, 'a')
    const { z: _, ...kept } = first._attachments!
    await docs.put({ ...first, changed: true, _attachments: { ...kept, y: { data: 'eXk=' } } })
    const second = await stored(docs, 'a')
    assertEqual(second._attachments?.['x'], first._attachments?.['x'])
    assertEqual([second._attachments?.['y']?.length, second._attachments?.['y']?.revpos], [2, 2])
    assertEqual(Object.keys(second._attachments ?? {}), ['x', 'y'])
    await docs.update('a', (document) => ({ ...document, n: 1 }))
    assertEqual((await stored(docs, 'a'))._attachments, second._attachments)
    await docs.update('a', ({ _attachments, ...rest }) => ({
      ...rest,
      _attachments: { x: _attachments!['x']!, w: { data: 'dw==' } },
    }))
    assertEqual(Object.keys((await stored(docs, 'a'))._attachments ?? {}), ['w', 'x'])
    await docs.upsert({ _id: 'a', _attachments: { x: { stub: true } } })
    assertEqual(await bytesIn(docs, 'a', 'x'), new Uint8Array([120]))
    await docs.upsert({ _id: 'a', without: true })
    assertEqual((await stored(docs, 'a'))._attachments, undefined)
    assertEqual(await docs.getAttachment('a', 'x'), undefined)
  })
  check('a stub of what is not there is refused, with the whole batch', async (docs) => {
    await docs.insert({ _id: 'a', _attachments: { x: { data: 'eA==' } } })
    const a = await stored(docs, 'a')
    const refused = 'PANNIER_ATTACHMENT_MISSING'
    await assertRejects(docs.insert({ _id: 'b', _attachments: { x: { stub: true } } }), refused)
    await assertRejects(docs.put({ ...a, _attachments: { y: { stub: true } } }), refused)
    await assertRejects(docs.put({ ...a, _attachments: { x: { stub: true, digest: 'md5-other' } } }), refused)
    await assertRejects(
      docs.update('a', () => ({ _attachments: { y: { stub: true } } })),
      refused,
    )
    await assertRejects(
      docs.insert([
        { _id: 'b', _attachments: { x: { data: new Blob([bytesOf(2, LARGE)]) } } },
        { _id: 'c', _attachments: { x: { stub: true } } },
      ]),
      refused,
    )
    assertEqual(await docs.find({}).count(), 1)
  })
  check('the same edit is the same revision, wherever its attachments are stored', async (docs, db) => {
    const other = db.collection('other')
    await other.insert({ _id: 'z', _attachments: { q: { data: bytesOf(7, 10) } } })
    const document = { _id: 'a', n: 1, _attachments: { x: { data: bytesOf(4, 3000), contentType: 'a/b' } } }
    const { rev } = await docs.insert(document)
    assertEqual((await other.insert(document)).rev, rev)
    for (const [name, contentType, data] of [
      ['y', 'a/b', bytesOf(4, 3000)],
      ['x', 'a/c', bytesOf(4, 3000)],
      ['x', 'a/b', bytesOf(5, 3000)],
    ] as const) {
      await db.dropCollection('other')
      const changed = await other.insert({ ...document, _attachments: { [name]: { data, contentType } } })
      assertTrue(changed.rev !== rev, 'the attachments are part of the revision')
    }
  })
  check('wrong arguments', async (docs) => {
    for (const _attachments of [5, [], { a: 5 }, { a: { data: 5 } }, { a: {} }, { _a: { data: '' } }])
      await assertRejects(docs.insert({ _id: 'a', _attachments } as never), TypeError)
    await docs.insert({ _id: 'a' })
    await assertRejects(
      docs.update('a', () => ({ _attachments: { x: { data: new Blob(['x']) } } })),
      TypeError,
    )
    await assertRejects(docs.putAttachment('a', '', { base64: 'eA==' }), TypeError)
    await assertRejects(docs.putAttachment('a', 'x', 5 as never), TypeError)
    await assertRejects(docs.putAttachment('_x', 'x', { base64: 'eA==' }), TypeError)
    await assertRejects(docs.putAttachment('a', 'x', { base64: 'eA==' }, { rev: 5 as never }), TypeError)
    await assertRejects(docs.getAttachment('a', 'x', { start: -1 }), TypeError)
    const many = Object.fromEntries(
      Array.from({ length: ATTACHMENTS_PER_DOCUMENT_MAX }, (_, at) => [`x${at}`, { data: 'eA==' }]),
    )
    await docs.upsert({ _id: 'a', _attachments: many })
    await docs.putAttachment('a', 'x0', { base64: 'eQ==' })
    await assertRejects(docs.putAttachment('a', 'more', { base64: 'eA==' }), 'PANNIER_LIMIT_EXCEEDED')
    assertThrows(() => docs.insert({ _id: 5, _attachments: {} } as never), TypeError)
  })
}

function singleCases(check: Case): void {
  check('put, get and remove one attachment', async (docs) => {
    const { rev } = await docs.putAttachment('a', 'x', bytesOf(1, LARGE), { contentType: 'x/y' })
    const created = await stored(docs, 'a')
    assertEqual([created._rev, created._attachments?.['x']?.contentType], [rev, 'x/y'])
    await docs.put({ ...created, n: 5 })
    // Bun adds a charset to the types of texts.
    const second = await docs.putAttachment('a', 'y', new Blob(['yy'], { type: 'image/x' }))
    assertTrue(second.rev.startsWith('3-'), 'each is a revision')
    const both = await stored(docs, 'a')
    assertEqual([both['n'], Object.keys(both._attachments ?? {})], [5, ['x', 'y']])
    const y = await docs.getAttachment('a', 'y')
    assertEqual([y?.name, y?.contentType, y?.length, await y?.text()], ['y', 'image/x', 2, 'yy'])
    const part = await docs.getAttachment('a', 'x', { start: 5, end: 10 })
    assertEqual(await part?.bytes(), bytesOf(1, LARGE).slice(5, 10))
    await assertRejects(docs.putAttachment('a', 'x', { base64: 'eA==' }, { rev }), 'PANNIER_CONFLICT')
    await assertRejects(docs.putAttachment('b', 'x', { base64: 'eA==' }, { rev }), 'PANNIER_CONFLICT')
    await assertRejects(docs.deleteAttachment('a', 'x', { rev }), 'PANNIER_CONFLICT')
    await docs.putAttachment('a', 'x', { base64: 'eA==' }, { rev: second.rev })
    assertEqual(await bytesIn(docs, 'a', 'x'), new Uint8Array([120]))
    assertEqual((await docs.deleteAttachment('a', 'x'))?.rev, (await stored(docs, 'a'))._rev)
    assertEqual(await docs.deleteAttachment('a', 'x'), undefined)
    assertEqual(await docs.deleteAttachment('none', 'x'), undefined)
    assertEqual(await docs.getAttachment('a', 'x'), undefined)
    assertEqual(await docs.getAttachment('none', 'x'), undefined)
    await docs.deleteAttachment('a', 'y')
    assertEqual((await stored(docs, 'a'))._attachments, undefined)
  })
  check('a string is text; base64 is said', async (docs) => {
    for (const [name, text] of [
      ['a', 'hello'],
      ['b', 'note'],
      ['c', ''],
      ['d', 'žluťoučký 🐎'],
    ] as const) {
      await docs.putAttachment('a', name, text)
      const found = await docs.getAttachment('a', name)
      assertEqual([await found?.text(), found?.contentType], [text, 'text/plain;charset=utf-8'])
    }
    await docs.putAttachment('a', 'a', '<p>', { contentType: 'text/html' })
    assertEqual((await docs.getAttachment('a', 'a'))?.contentType, 'text/html')
    await docs.putAttachment('a', 'e', { base64: btoa('note') })
    const said = await docs.getAttachment('a', 'e')
    assertEqual([await said?.text(), said?.contentType], ['note', 'application/octet-stream'])
    for (const wrong of [{ base64: 'hello' }, { base64: 5 }, {}, ['x'], null])
      await assertRejects(docs.putAttachment('a', 'x', wrong as never), TypeError)
  })
  check('many at once', async (docs) => {
    await docs.insert({ _id: 'a', n: 0 })
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        docs.putAttachment('a', `x${at}`, at % 5 === 0 ? new Blob([bytesOf(at, LARGE)]) : bytesOf(at, 100)),
      ),
    )
    const { _attachments } = await stored(docs, 'a')
    assertEqual(Object.keys(_attachments ?? {}).length, 20)
    assertEqual(await bytesIn(docs, 'a', 'x15'), bytesOf(15, LARGE))
  })
  check('a source that fails, and one that is given up', async (docs) => {
    const broken = new Error('broken')
    const failing = (async function* () {
      yield bytesOf(1, LARGE)
      throw broken
    })()
    assertEqual(await assertRejects(docs.putAttachment('a', 'x', failing)), broken)
    const controller = new AbortController()
    const stalled = (async function* () {
      yield bytesOf(1, LARGE)
      controller.abort()
      await new Promise(() => {})
    })()
    await assertRejects(docs.putAttachment('a', 'x', stalled, { signal: controller.signal }), 'PANNIER_ABORTED')
    assertEqual(await docs.get('a'), undefined)
  })
}

function lifeCases(check: Case): void {
  check('attachments go with the document; what was read goes on', async (docs) => {
    await docs.putAttachment('a', 'x', bytesOf(1, LARGE))
    const attachment = await docs.getAttachment('a', 'x')
    assertDefined(attachment)
    const reader = attachment.stream().getReader()
    await reader.read()
    await docs.delete('a')
    let length = 0
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length
    assertTrue(length > LARGE / 2, 'the stream goes on')
    await assertRejects(attachment.bytes(), 'PANNIER_NOT_FOUND')
    assertEqual(await docs.getAttachment('a', 'x'), undefined)
    await docs.insert({ _id: 'a' })
    assertEqual((await stored(docs, 'a'))._attachments, undefined)
    await assertRejects(
      docs.put({ ...(await stored(docs, 'a')), _attachments: { x: { stub: true } } }),
      'PANNIER_ATTACHMENT_MISSING',
    )
  })
  check('a collection that is dropped takes them along', async (docs, db) => {
    await docs.putAttachment('a', 'x', bytesOf(1, LARGE))
    const attachment = await docs.getAttachment('a', 'x')
    const slow = (async function* () {
      yield bytesOf(2, LARGE)
      await db.dropCollection('docs')
      await docs.insert({ _id: 'new' })
      yield bytesOf(2, 3 * LARGE)
    })()
    await assertRejects(docs.putAttachment('a', 'y', slow), 'PANNIER_ABORTED')
    await assertRejects(attachment!.bytes(), 'PANNIER_NOT_FOUND')
    assertEqual(
      (await docs.find({}).toArray()).map(({ _id }) => _id),
      ['new'],
    )
    await docs.putAttachment('a', 'x', bytesOf(3, 100))
    await assertRejects(attachment!.bytes(), 'PANNIER_NOT_FOUND')
  })
}

function revisionCases(check: Case): void {
  const rev = (generation: number, digit: string): string => `${generation}-${digit.repeat(32)}`
  const history = (start: number, ...digits: string[]): { start: number; ids: string[] } => ({
    start,
    ids: digits.map((digit) => digit.repeat(32)),
  })
  const root = { _id: 'a', _rev: rev(1, 'a'), _revisions: history(1, 'a') }

  check('replicated revisions keep their attachments, and when these came', async (docs) => {
    await docs.put({ ...root, _attachments: { x: { data: 'eA==', revpos: 1 } } } as never, { newEdits: false })
    const next = { _id: 'a', _rev: rev(3, 'c'), _revisions: history(3, 'c', 'b', 'a') }
    const _attachments = { x: { stub: true, revpos: 1 }, y: { data: 'eQ==', revpos: 2 } }
    await docs.put({ ...next, _attachments } as never, { newEdits: false })
    const { _attachments: found } = await stored(docs, 'a')
    assertEqual([found?.['x']?.revpos, found?.['y']?.revpos], [1, 2])
    await docs.put({ ...next, _attachments } as never, { newEdits: false })
    await assertRejects(
      docs.put({ _id: 'b', _rev: rev(2, 'b'), _attachments: { x: { stub: true } } }, { newEdits: false }),
      'PANNIER_ATTACHMENT_MISSING',
    )
  })
  check('leaves in conflict have attachments of their own; each can be changed; resolving ends them', async (docs) => {
    await docs.put({ ...root, _attachments: { x: { data: 'eA==' } } }, { newEdits: false })
    for (const digit of ['b', 'c', 'd']) {
      const leaf = { _id: 'a', _rev: rev(2, digit), _revisions: history(2, digit, 'a') }
      const data = digit === 'd' ? new Blob([bytesOf(9, LARGE)]) : bytesOf(digit.charCodeAt(0), 3000)
      await docs.put({ ...leaf, _attachments: { own: { data }, same: { data: 'eA==' } } }, { newEdits: false })
    }
    const losing = rev(2, 'b')
    assertEqual(await (await docs.getAttachment('a', 'own', { rev: losing }))?.bytes(), bytesOf(98, 3000))
    assertEqual(await bytesIn(docs, 'a', 'own'), bytesOf(9, LARGE))
    const changed = await docs.putAttachment('a', 'more', { base64: 'eQ==' }, { rev: losing })
    assertEqual(Object.keys((await stored(docs, 'a'))._attachments ?? {}), ['more', 'own', 'same'])
    assertEqual((await stored(docs, 'a'))._rev, changed.rev)
    await assertRejects(docs.putAttachment('a', 'more', { base64: 'eQ==' }, { rev: losing }), 'PANNIER_CONFLICT')
    await docs.deleteAttachment('a', 'own', { rev: rev(2, 'c') })
    assertEqual(await docs.getAttachment('a', 'own', { rev: rev(2, 'c') }), undefined)
    // One that only another leaf has may be kept as well.
    await docs.resolve('a', (leaves) => ({
      _attachments: Object.assign({}, ...leaves.map(({ _attachments }) => _attachments)),
    }))
    assertEqual(Object.keys((await stored(docs, 'a'))._attachments ?? {}), ['more', 'own', 'same'])
    assertEqual(await docs.conflicts(), [])
  })
  check('deleting a leaf shows what the next one has; purging forgets', async (docs) => {
    for (const digit of ['a', 'b']) {
      const leaf = { _id: 'a', _rev: rev(1, digit), _revisions: history(1, digit) }
      await docs.put(
        { ...leaf, _attachments: { x: { data: bytesOf(digit.charCodeAt(0), 5000) } } },
        { newEdits: false },
      )
    }
    await docs.delete({ _id: 'a', _rev: rev(1, 'b') })
    assertEqual(await bytesIn(docs, 'a', 'x'), bytesOf(97, 5000))
    const tombstone = await docs.put({ ...(await stored(docs, 'a')), _deleted: true })
    assertEqual(await docs.get('a'), undefined)
    assertEqual(await (await docs.getAttachment('a', 'x', { rev: tombstone.rev }))?.bytes(), bytesOf(97, 5000))
    await docs.purge('a')
    assertEqual(await docs.getAttachment('a', 'x', { rev: tombstone.rev }), undefined)
  })
  check('a collection with history keeps the attachments of old revisions until it is compacted', async (_, db) => {
    const kept = db.collection('kept', { history: true })
    const { rev: first } = await kept.insert({ _id: 'a', _attachments: { x: { data: bytesOf(1, LARGE) } } })
    await kept.update('a', (document) => ({ ...document, n: 1 }))
    await kept.update('a', () => ({ n: 2 }))
    assertEqual(await kept.getAttachment('a', 'x'), undefined)
    const old = await kept.getAttachment('a', 'x', { rev: first })
    assertEqual(await old?.bytes(), bytesOf(1, LARGE))
    assertEqual((await db.check()).problems, [])
    assertEqual(await kept.compact(), 2)
    await assertRejects(old!.bytes(), 'PANNIER_NOT_FOUND')
    assertEqual(await kept.getAttachment('a', 'x', { rev: first }), undefined)
  })
  check('documents with the content of their attachments', async (docs) => {
    const { rev: first } = await docs.insert({
      _id: 'a',
      _attachments: { x: { data: 'eHg=', contentType: 'text/plain' }, y: { data: bytesOf(1, LARGE) } },
    })
    await docs.insert({ _id: 'b', n: 1 })
    const text = await docs.get('a', { attachments: 'base64' })
    assertEqual(text?._attachments?.['x'], {
      contentType: 'text/plain',
      digest: 'md5-kzbr8lCH2RyBjubp7Cn4wQ==',
      revpos: 1,
      data: 'eHg=',
    })
    const [bytes, none] = await docs.get(['a', 'b'], { attachments: 'bytes' })
    assertEqual(bytes?._attachments?.['y']?.data, bytesOf(1, LARGE))
    assertEqual(none, { _id: 'b', n: 1, _rev: none!._rev } as never)
    const blobs = await docs.get('a', { attachments: 'blob', rev: first })
    const blob = blobs?._attachments?.['y']?.data
    assertTrue(blob instanceof Blob && blob.size === LARGE, 'a Blob of the right size')
    const [leaf] = await docs.getRevisions('a', 'all', { attachments: 'bytes' })
    assertEqual(
      leaf !== undefined && 'ok' in leaf && leaf.ok._attachments?.['x']?.data,
      bytes?._attachments?.['x']?.data,
    )
    const [got] = await docs.bulkGet([{ id: 'a', rev: first }], { attachments: 'base64' })
    assertEqual(got !== undefined && 'ok' in got && got.ok._attachments?.['x']?.data, 'eHg=')
    // What was read can be written.
    await docs.put(text as never)
    await docs.put({ ...blobs, _rev: (await stored(docs, 'a'))._rev } as never)
    assertEqual(await bytesIn(docs, 'a', 'y'), bytesOf(1, LARGE))
  })
  check('of a batch that is not all or nothing', async (docs) => {
    await docs.insert({ _id: 'there' })
    const tooLong = 'n'.repeat(2000)
    const outcomes = await docs.insert(
      [
        { _id: 'a', _attachments: { x: { data: new Blob([bytesOf(1, LARGE)]) } } },
        { _id: 'there', _attachments: { x: { data: new Blob([bytesOf(2, LARGE)]) } } },
        { _id: 'b', _attachments: { x: { data: 'eA==' }, y: { stub: true } } },
        { _id: 'c', _attachments: { [tooLong]: { data: 'eA==' } } },
        { _id: 'd', _attachments: { x: { data: 'eA==' } } },
      ],
      { atomic: false },
    )
    assertEqual(
      outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'written')),
      ['written', 'PANNIER_CONFLICT', 'PANNIER_ATTACHMENT_MISSING', 'PANNIER_KEY_TOO_LARGE', 'written'],
    )
    assertEqual(await bytesIn(docs, 'a', 'x'), bytesOf(1, LARGE))
  })
}

function transactionCases(check: Case): void {
  check('inside a transaction', async (docs, db) => {
    await docs.insert({ _id: 'a', _attachments: { x: { data: 'eA==' } } })
    await assertRejects(
      db.transaction(async (tx) => {
        await tx.collection('docs').putAttachment('a', 'x', bytesOf(1, LARGE))
        throw new RangeError('no')
      }),
      RangeError,
    )
    assertEqual(await bytesIn(docs, 'a', 'x'), new Uint8Array([120]))
    await db.transaction(async (tx) => {
      const inside = tx.collection('docs')
      await inside.putAttachment('a', 'y', new Blob([bytesOf(2, LARGE)]).stream())
      assertEqual(await (await inside.getAttachment('a', 'y'))?.bytes(), bytesOf(2, LARGE))
      await inside.insert({ _id: 'b', _attachments: { z: { data: new Blob(['z']) } } })
      await inside.deleteAttachment('a', 'x')
      // Not waited for: it is part of the transaction all the same.
      void inside.putAttachment('c', 'w', new Blob(['w']))
    })
    assertEqual(Object.keys((await stored(docs, 'a'))._attachments ?? {}), ['y'])
    assertEqual(await (await docs.getAttachment('b', 'z'))?.text(), 'z')
    assertEqual(await (await docs.getAttachment('c', 'w'))?.text(), 'w')
  })
}

async function stored(docs: Collection<JsonObject>, id: string): Promise<Stored<JsonObject>> {
  const document = await docs.get(id)
  assertDefined(document, id)
  return document
}

async function bytesIn(docs: Collection<JsonObject>, id: string, name: string): Promise<Uint8Array | undefined> {
  return (await docs.getAttachment(id, name))?.bytes()
}

function bytesOf(seed: number, length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).map((_, at) => seed * 31 + at + (at >>> 8) * 7)
}
