/**
 * Conformance of import and export on every storage. Exported documents come back exactly, in every format. The
 * consumer bounds the memory. A document that can't be imported is reported, and the others are imported.
 */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { ExportFormat } from '../../src/database/transfer/export-documents.ts'
import type { ImportOptions, ImportProgress, ImportResult } from '../../src/database/transfer/import-options.ts'
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import type { SuiteContext } from '../suite.ts'
import { checkedCases, type CheckedCase } from './database-cases.ts'

type Documents = Collection<Record<string, unknown>>

export function importExportSuite({ test, create }: SuiteContext<() => Promise<Database>>): void {
  const check = checkedCases({ test, create })
  roundTripCases(check)
  exportCases(check)
  sourceCases(check)
  failureCases(check)
  couchdbCases(check)
  cancelCases(check)
  test('closing the database ends an import', async () => {
    const db = await create()
    let lines = 0
    const endless = async function* (): AsyncGenerator<string> {
      for (;;) {
        if (++lines === 1000) void db.close()
        yield `{"text":"${'x'.repeat(10_000)}"}\n`
      }
    }
    await assertRejects(db.collection('all').import(endless()), 'PANNIER_CLOSED')
  })
}

/** Of every kind that JSON has, and ids and names that would like to do harm. */
function nastyDocuments(): Record<string, unknown>[] {
  const harmful = JSON.parse(
    '{"_id":"constructor","__proto__":{"a":1},"constructor":{"prototype":2},"toString":null}',
  ) as object
  return [
    harmful as Record<string, unknown>,
    { _id: '\u0000\ud800 "\\\n', '': '', 'a:b,c]}': '[{",:\\"', lone: '\udfff', pair: '\u{1f4a1}' },
    { _id: 'numbers', values: [0, 1.5, 1e300, 5e-324, 2 ** 53, -1, null, true, false], packed: [1, 2, 3, 4, 5, 6] },
    { _id: 'nested', a: { b: { c: [[], {}, [{ d: [[1]] }]] } } },
    { _id: '\u00fc\u6771', text: '\u00fc\u6771\u{1f4a1}'.repeat(3000) },
    { _id: '_design/views', views: { all: { map: 'function (doc) { emit(doc._id) }' } } },
    { _id: 'empty' },
  ]
}

function roundTripCases(check: CheckedCase): void {
  for (const format of ['ndjson', 'json', 'couchdb', 'couchdb-bulk'] as const) {
    check(`what is exported as ${format} is imported again`, async (db) => {
      const source = db.collection('source')
      const many = Array.from({ length: 3000 }, (_, n) => ({ _id: `d${n}`, n, text: 'some text '.repeat(n % 20) }))
      await source.insert([...nastyDocuments(), ...many])
      const text = await textOf(source, format)
      const copy = db.collection('copy')
      const total = nastyDocuments().length + many.length
      assertEqual(await copy.import(text), { imported: total, skipped: 0, failedCount: 0, failed: [] })
      assertEqual(await contentOf(copy), await contentOf(source))
      // In whatever pieces it comes, and once more over itself.
      const bytes = new TextEncoder().encode(text)
      const options: ImportOptions = {
        mode: 'upsert',
        format: format.startsWith('couchdb') ? 'couchdb' : (format as 'json'),
      }
      assertEqual((await copy.import(chunked(bytes, 64), options)).imported, total)
      assertEqual(await contentOf(copy), await contentOf(source))
    })
  }
}

function exportCases(check: CheckedCase): void {
  check('exports are JSON of the shape that they are said to have', async (db) => {
    const all = db.collection('all')
    assertEqual(await textOf(all, 'ndjson'), '')
    assertEqual(JSON.parse(await textOf(all, 'json')) as unknown, [])
    assertEqual(JSON.parse(await textOf(all, 'couchdb')) as unknown, { rows: [], offset: 0, total_rows: 0 })
    assertEqual(JSON.parse(await textOf(all, 'couchdb-bulk')) as unknown, { new_edits: false, docs: [] })
    const { rev } = await all.insert({ _id: 'a', n: 1, list: new Uint8Array([1, 2]) })
    const a = { _id: 'a', _rev: rev, n: 1, list: [1, 2] }
    assertEqual(await textOf(all, 'ndjson'), `${JSON.stringify(a)}\n`)
    assertEqual(JSON.parse(await textOf(all, 'json')) as unknown, [a])
    const rows = [{ id: 'a', key: 'a', value: { rev }, doc: a }]
    assertEqual(JSON.parse(await textOf(all, 'couchdb')) as unknown, { rows, offset: 0, total_rows: 1 })
    assertEqual(JSON.parse(await textOf(all, 'couchdb-bulk')) as unknown, { new_edits: false, docs: [a] })
    await all.insert([
      { _id: 'b', n: 2 },
      { _id: 'c', n: 3 },
    ])
    await all.delete('c')
    const selected = await new Response(all.export({ selector: { n: { $gte: 2 } } }) as BodyInit).text()
    assertEqual(
      selected.split('\n').map((line) => (line === '' ? '' : (JSON.parse(line) as { _id: string })._id)),
      ['b', ''],
    )
    assertThrows(() => all.export({ format: 'xml' as ExportFormat }), TypeError)
    assertThrows(() => all.export({ selector: { n: { $nonsense: 1 } } }), TypeError)
  })

  check('an export holds one moment, is made as it is read, and can be left', async (db) => {
    const all = db.collection('all')
    await all.insert(Array.from({ length: 5000 }, (_, n) => ({ _id: `d${n}`, text: 'x'.repeat(200) })))
    const done: number[] = []
    const reader = all.export({ onProgress: (part) => done.push(part) }).getReader()
    let bytes = (await reader.read()).value!.length
    await all.delete(Array.from({ length: 5000 }, (_, n) => `d${n}`))
    assertTrue(done.length <= 3, 'nothing is made ahead of the reader')
    for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.length
    assertTrue(bytes > 5000 * 200, 'all that was there when it began')
    assertEqual(done.at(-1), 1)
    await all.insert({ _id: 'one' })
    await all.export().cancel()
  })
}

function sourceCases(check: CheckedCase): void {
  check('a source is a stream, a Blob, bytes, a string or an async iterable', async (db) => {
    const text = '{"_id":"\u00fc1"}\r\n\r\n{"_id":"b"}'
    const bytes = new TextEncoder().encode(text)
    const parts = async function* (): AsyncGenerator<Uint8Array | string> {
      yield bytes.subarray(0, 9)
      yield bytes.subarray(9)
    }
    const sources = [
      text,
      bytes,
      bytes.buffer,
      new Blob([bytes]),
      new Blob([bytes]).stream(),
      parts(),
      chunked(bytes, 1),
    ]
    for (const [n, source] of sources.entries()) {
      const target = db.collection(`target${n}`)
      assertEqual((await target.import(source)).imported, 2, `source ${n}`)
      assertEqual(
        (await contentOf(target)).map(({ _id }) => _id),
        ['b', '\u00fc1'],
      )
    }
    await assertRejects(db.collection('no').import({} as string), TypeError)
    await assertRejects(db.collection('no').import(undefined as unknown as string), TypeError)
    for (const options of [{ mode: 'put' }, { format: 'csv' }, { stubs: 'keep' }])
      await assertRejects(db.collection('no').import('', options as ImportOptions), TypeError)
    assertEqual((await db.collection('no').import('')).imported, 0)
    assertEqual(
      await db.collections(),
      sources.map((_, n) => `target${n}`),
    )
  })

  check('documents without an _id get one; of several with one id an upsert keeps the last', async (db) => {
    const all = db.collection('all')
    assertEqual((await all.import('[{"n":1},{"n":2}]')).imported, 2)
    assertEqual(await all.find({ n: { $gt: 0 } }).count(), 2)
    assertEqual((await all.import('[{"_id":"a","n":1},{"_id":"a","n":2}]', { mode: 'upsert' })).imported, 2)
    assertEqual((await all.get('a'))?.['n'], 2)
  })

  check('large sources go through in batches', async (db) => {
    const all = db.collection('all')
    const lines = Array.from({ length: 3000 }, (_, n) => `{"_id":"d${n}","text":"${'x'.repeat(3500)}"}\n`)
    const seen: ImportProgress[] = []
    const result = await all.import(new Blob(lines), { onProgress: (progress) => seen.push(progress) })
    assertEqual(result.imported, 3000)
    assertTrue(seen.length >= 2, 'more than one batch')
    assertEqual(seen.at(-1)?.bytes, seen.at(-1)?.bytesTotal)
    assertEqual(seen.at(-1)?.imported, 3000)
    assertEqual(await all.find().count(), 3000)
  })
}

function failureCases(check: CheckedCase): void {
  check('each document that fails is reported with its place, and the others are imported', async (db) => {
    const all = db.collection('all')
    await all.insert({ _id: 'taken', n: 0 })
    const lines = [
      '{"_id":"a"}',
      '{"_id":"taken","n":1}',
      '',
      '{"_id":',
      '{"_id":"a"}',
      '{"_id":5}',
      '{"_id":"_x"}',
      '{"_id":"x","_secret":1}',
      '5',
      '{"a":1,"a":2}',
      `{"_id":"deep","a":${'['.repeat(500)}${']'.repeat(500)}}`,
      `{"_id":"${'k'.repeat(5000)}"}`,
      '{"_id":"b"}',
    ]
    const result = await all.import(lines.join('\n'))
    const facts = result.failed.map(({ position, line, id, error }) => [position, line, id, error.code])
    const long = 'k'.repeat(5000)
    assertEqual(facts, [
      [1, 2, 'taken', 'PANNIER_CONFLICT'],
      [2, 4, undefined, 'PANNIER_DOCUMENT_INVALID'],
      [3, 5, 'a', 'PANNIER_CONFLICT'],
      [4, 6, undefined, 'PANNIER_DOCUMENT_INVALID'],
      [5, 7, '_x', 'PANNIER_DOCUMENT_INVALID'],
      [6, 8, 'x', 'PANNIER_DOCUMENT_INVALID'],
      [7, 9, undefined, 'PANNIER_DOCUMENT_INVALID'],
      [8, 10, undefined, 'PANNIER_DOCUMENT_INVALID'],
      [9, 11, undefined, 'PANNIER_DOCUMENT_TOO_DEEP'],
      [10, 12, long, 'PANNIER_KEY_TOO_LARGE'],
    ])
    assertEqual([result.imported, result.failedCount], [2, 10])
    assertEqual(
      (await contentOf(all)).map(({ _id }) => _id),
      ['a', 'b', 'taken'],
    )
    assertEqual((await all.get('taken'))?.['n'], 0)
  })

  check('the list of failures is bounded, their number is not', async (db) => {
    const result = await db.collection('all').import('nonsense\n'.repeat(5000) + '{"_id":"a"}', { format: 'ndjson' })
    assertEqual([result.imported, result.failedCount, result.failed.length], [1, 5000, 100])
    assertEqual(result.failed.at(-1)?.line, 100)
  })

  check('a source that is cut off, or none at all, is an error that tells how far it came', async (db) => {
    const all = db.collection('all')
    const cut = await assertRejects(all.import('[{"_id":"a"},{"_id":"b"'), 'PANNIER_FORMAT_WRONG')
    assertEqual((cut as { details: ImportResult }).details.imported, 0)
    await assertRejects(all.import('<html>'), 'PANNIER_FORMAT_WRONG')
    await assertRejects(all.import('{"_id":"a"}', { format: 'json' }), 'PANNIER_FORMAT_WRONG')
    const failure = new Error('connection lost')
    const broken = async function* (): AsyncGenerator<string> {
      yield '{"_id":"a"}\n'
      throw failure
    }
    assertEqual(await assertRejects(all.import(broken())), failure)
    assertEqual(await contentOf(all), [])
  })
}

function couchdbCases(check: CheckedCase): void {
  check('what CouchDB answers to _all_docs', async (db) => {
    const all = db.collection('all')
    const rows = [
      {
        id: 'a',
        key: 'a',
        value: { rev: '1-a' },
        doc: { _id: 'a', _rev: '1-a', n: 1, _conflicts: ['1-b'], _local_seq: 5 },
      },
      { key: 'missing', error: 'not_found' },
      { id: 'gone', key: 'gone', value: { rev: '2-b', deleted: true }, doc: null },
      { id: 'bare', key: 'bare', value: { rev: '1-c' } },
      { id: 'd', key: 'd', value: { rev: '1-d' }, doc: { _id: 'd', _rev: '1-d', _attachments: { f: { stub: true } } } },
    ]
    const text = `{"total_rows":5,"offset":0,"rows":[\r\n${rows.map((row) => JSON.stringify(row)).join(',\r\n')}\r\n]}\n`
    const result = await all.import(text)
    assertEqual([result.imported, result.skipped, result.failedCount], [1, 1, 3])
    assertEqual(
      result.failed.map(({ line, id }) => [line, id]),
      [
        [3, undefined],
        [5, undefined],
        [6, 'd'],
      ],
    )
    assertEqual(await contentOf(all), [{ _id: 'a', n: 1 }])
    const dropped = await all.import(text, { mode: 'upsert', format: 'couchdb', stubs: 'drop' })
    assertEqual([dropped.imported, dropped.failedCount], [2, 2])
    assertEqual(await contentOf(all), [{ _id: 'a', n: 1 }, { _id: 'd' }])
  })

  check('a body of _bulk_docs, with tombstones', async (db) => {
    const all = db.collection('all')
    const docs = [
      { _id: 'a', _rev: '3-a', _revisions: { start: 3, ids: ['a', 'b'] } },
      { _id: 'b', _rev: '2-b', _deleted: true },
    ]
    const result = await all.import(JSON.stringify({ docs, new_edits: false }, undefined, 2))
    assertEqual([result.imported, result.skipped, result.failedCount], [1, 1, 0])
    assertEqual(await contentOf(all), [{ _id: 'a' }])
  })

  check("'replicate' takes up revisions as they are, conflicts and tombstones among them", async (db) => {
    const all = db.collection('all')
    const docs = [
      { _id: 'a', _rev: '3-a', _revisions: { start: 3, ids: ['a', 'b', 'c'] }, n: 1 },
      { _id: 'a', _rev: '3-z', _revisions: { start: 3, ids: ['z', 'b', 'c'] }, n: 2 },
      { _id: 'gone', _rev: '2-b', _deleted: true },
      { _id: 'bad', _rev: '1-', n: 3 },
      { _id: 'none', n: 4 },
      { _id: 'last', _rev: '1-l', n: 5 },
    ]
    // Once more is once.
    for (let round = 0; round < 2; round++) {
      const result = await all.import(JSON.stringify({ new_edits: false, docs }), { mode: 'replicate' })
      assertEqual([result.imported, result.skipped, result.failedCount], [4, 0, 2])
      assertEqual(
        result.failed.map(({ id, error }) => [id, error.code]),
        ['bad', 'none'].map((id) => [id, 'PANNIER_DOCUMENT_INVALID']),
      )
    }
    assertEqual<unknown>(await all.get('a', { conflicts: true }), { _id: 'a', _rev: '3-z', n: 2, _conflicts: ['3-a'] })
    assertEqual<unknown>(await all.get('a', { revs: true }), {
      _id: 'a',
      _rev: '3-z',
      n: 2,
      _revisions: { start: 3, ids: ['z', 'b', 'c'] },
    })
    assertEqual((await all.get('gone', { rev: '2-b' }))?._deleted, true)
    const rows = { rows: [{ id: 'row', key: 'row', value: { rev: '2-r', deleted: true }, doc: null }] }
    assertEqual((await all.import(JSON.stringify(rows), { mode: 'replicate' })).imported, 1)
    assertEqual((await all.get('row', { rev: '2-r' }))?._deleted, true)
  })

  check('attachments come along when they are asked for', async (db) => {
    const all = db.collection('all')
    const data = btoa('hello '.repeat(5000))
    await all.insert([
      { _id: 'a', n: 1, _attachments: { 'b.txt': { contentType: 'text/plain', data } } },
      { _id: 'z', n: 2 },
    ])
    const text = await new Response(all.export({ attachments: true }) as BodyInit).text()
    const copy = db.collection('copy')
    assertEqual((await copy.import(text)).imported, 2)
    const a = await copy.get('a', { attachments: 'base64' })
    assertEqual(a?._attachments?.['b.txt']?.data, data)
    assertEqual(a?._attachments?.['b.txt']?.contentType, 'text/plain')
    for (const format of ['couchdb', 'couchdb-bulk', 'replica'] as const) {
      const couch = await new Response(all.export({ attachments: true, format }) as BodyInit).text()
      assertTrue(couch.includes('"content_type":"text/plain"') && !couch.includes('contentType'), format)
      if (format === 'replica') continue
      const imported = db.collection(format)
      assertEqual((await imported.import(couch)).imported, 2)
      assertEqual((await imported.get('a'))?._attachments?.['b.txt']?.contentType, 'text/plain')
    }
    // Without them there are stubs, which are no attachments.
    const stubs = await textOf(all, 'json')
    const other = db.collection('other')
    assertEqual(
      (await other.import(stubs)).failed.map(({ id }) => id),
      ['a'],
    )
    assertEqual((await other.import(stubs, { mode: 'upsert', stubs: 'drop' })).imported, 2)
    assertEqual((await contentOf(other))[0], { _id: 'a', n: 1 })
  })

  check('what is exported for CouchDB comes back with its revisions', async (db) => {
    const all = db.collection('all')
    await all.insert([{ _id: 'a' }, { _id: 'b' }])
    await all.upsert({ _id: 'b', n: 2 })
    const copy = db.collection('copy')
    for (const format of ['couchdb', 'couchdb-bulk'] as const) {
      assertEqual((await copy.import(await textOf(all, format), { mode: 'replicate' })).imported, 2)
      assertEqual(await copy.find().sort('_id').toArray(), await all.find().sort('_id').toArray())
    }
  })
}

function cancelCases(check: CheckedCase): void {
  check('an import and an export can be cancelled', async (db) => {
    const all = db.collection('all')
    const stopping = new AbortController()
    const endless = async function* (): AsyncGenerator<string> {
      for (let n = 0; ; n++) yield `{"_id":"d${n}","text":"${'x'.repeat(10_000)}"}\n`
    }
    const onProgress = ({ imported }: ImportProgress): void => (imported > 0 ? stopping.abort() : undefined)
    const cancelled = await assertRejects(
      all.import(endless(), { signal: stopping.signal, onProgress }),
      'PANNIER_ABORTED',
    )
    const count = await all.find().count()
    assertTrue(count > 0, 'what was written stays')
    assertEqual((cancelled as { details: ImportResult }).details.imported, count)
    // Not by way of a Response, which makes a TypeError of any failure in Chromium.
    await assertRejects(all.export({ signal: AbortSignal.abort() }).getReader().read(), 'PANNIER_ABORTED')
  })
}

async function textOf(documents: Documents, format: ExportFormat): Promise<string> {
  return new Response(documents.export({ format }) as BodyInit).text()
}

/** Without revisions, by id. */
async function contentOf(documents: Documents): Promise<Record<string, unknown>[]> {
  const all = await documents.find().sort('_id').toArray()
  return all.map(({ _rev, ...rest }) => rest)
}

/** In pieces of 1, 2, … `sizeMax` bytes, and from 1 again. */
function chunked(bytes: Uint8Array, sizeMax: number): ReadableStream<Uint8Array> {
  let at = 0
  let size = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      // Many small ones at once, for a promise each would take long.
      for (let count = 0; count < 1000 && at < bytes.length; count++) {
        size = (size % sizeMax) + 1
        controller.enqueue(bytes.slice(at, (at += size)))
      }
      if (at >= bytes.length) controller.close()
    },
  })
}
