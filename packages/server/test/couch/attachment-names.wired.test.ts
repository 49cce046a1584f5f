/**
 * Goal: CouchDB's clients and functions see `content_type` in each answer, and the library, behind the same server, `contentType`.
 * Method: each way to write and to read an attachment's type, over HTTP; and what functions of design documents are given.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../src/index.ts'
import { send, startServer } from '../test-server.ts'
import type { Answer, TestServer } from '../test-server.ts'

const DESIGN = {
  _id: '_design/types',
  views: {
    types: { map: 'function (doc) { for (var n in doc._attachments) emit(doc._attachments[n].content_type) }' },
  },
  filters: { text: "function (doc) { return !!doc._attachments && doc._attachments.a.content_type === 'text/x' }" },
  validate_doc_update: `function (newDoc, oldDoc) {
    [newDoc, oldDoc].forEach(function (doc) {
      for (var n in doc && doc._attachments)
        if (!/^text\\/[xy]$/.test(doc._attachments[n].content_type)) throw { forbidden: JSON.stringify(doc._attachments) }
    })
  }`,
}
const FILES = { a: { content_type: 'text/x', data: 'aGVsbG8=' } }
const RELATED = { 'content-type': 'multipart/related; boundary="b"' }
const FOLLOWS = { _attachments: { a: { follows: true, content_type: 'text/x', length: 5 } } }
const PARTS = `--b\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(FOLLOWS)}\r\n--b\r\n\r\nhello\r\n--b--`

let running: TestServer
let rev: string

beforeAll(async () => {
  running = await startServer()
  await ask('PUT /db')
  await ask('PUT /db/_design/types', DESIGN)
  const { json } = await ask('PUT /db/inline', { n: 1, _attachments: FILES })
  rev = String(json['rev'])
})
afterAll(() => running.close())

function ask(request: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return send(running.url, request, body, { accept: 'application/json', ...headers })
}

async function typesOf(id: string): Promise<Record<string, unknown>> {
  const { json } = await ask(`GET /db/${id}`)
  const stubs = json['_attachments'] as Record<string, { readonly content_type?: string }>
  return Object.fromEntries(Object.entries(stubs).map(([name, stub]) => [name, stub.content_type]))
}

const MIXED = { accept: 'multipart/mixed' }

test.each<[request: string, body?: unknown, headers?: Record<string, string>]>([
  ['GET /db/inline'],
  ['GET /db/inline?meta=true&revs=true'],
  ['GET /db/inline?attachments=true'],
  ['GET /db/inline?attachments=true', undefined, { accept: 'multipart/related' }],
  ['GET /db/inline?rev=REV'],
  ['GET /db/inline?open_revs=all'],
  ['GET /db/inline?open_revs=all&attachments=true'],
  ['GET /db/inline?open_revs=all', undefined, MIXED],
  ['POST /db/_bulk_get', { docs: [{ id: 'inline' }] }],
  ['POST /db/_bulk_get?attachments=true', { docs: [{ id: 'inline' }] }],
  ['POST /db/_bulk_get?attachments=true', { docs: [{ id: 'inline' }] }, MIXED],
  ['GET /db/_all_docs?include_docs=true&key="inline"'],
  ['GET /db/_all_docs?include_docs=true&attachments=true&key="inline"'],
  ['GET /db/_changes?include_docs=true'],
  ['GET /db/_changes?include_docs=true&attachments=true'],
  ['GET /db/_changes?include_docs=true&filter=types/text'],
  ['GET /db/_changes?include_docs=true&feed=continuous&timeout=0'],
  ['POST /db/_find', { selector: { n: 1 } }],
  ['POST /db/_find', { selector: { n: 1 }, conflicts: true }],
  ['POST /db/_find', { selector: { n: 1 }, fields: ['_attachments'] }],
  ['GET /db/_design/types/_view/types?include_docs=true'],
  ['GET /db/_design/types/_view/types?include_docs=true&attachments=true'],
  ['GET /db/_pannier/snapshot'],
])('%s answers with content_type', async (request, body, headers) => {
  const { status, text } = await ask(request.replace('REV', rev), body, headers)
  expect([status, text]).toEqual([200, text])
  expect(text).toContain('"content_type":"text/x"')
  expect(text).not.toContain('contentType')
})

test.each<[request: string, body?: unknown, headers?: Record<string, string>]>([
  ['PUT /db/put', { _attachments: FILES }],
  ['POST /db', { _id: 'post', _attachments: FILES }],
  ['POST /db/_bulk_docs', { docs: [{ _id: 'bulk', _attachments: FILES }] }],
  ['POST /db/_bulk_docs', { new_edits: false, docs: [{ _id: 'replica', _rev: '1-a', _attachments: FILES }] }],
  ['PUT /db/related', PARTS, RELATED],
  ['PUT /db/attached/a', 'hello', { 'content-type': 'text/x' }],
  ['COPY /db/inline', undefined, { destination: 'copy' }],
])('%s takes the type, which each function sees', async (request, body, headers) => {
  const before = String((await ask('GET /db')).json['update_seq'])
  const { status, text } = await ask(request, body, headers)
  expect([status, text]).toEqual([201, text])
  const changes = await ask(`GET /db/_changes?since=${before}&filter=types/text`)
  const [change] = changes.json['results'] as { readonly id: string }[]
  expect(await typesOf(change!.id)).toEqual({ a: 'text/x' })
})

test('an edit keeps the types of the attachments that it names', async () => {
  const { json } = await ask('PUT /db/edited', { _attachments: FILES })
  const second = await ask(`PUT /db/edited/b?rev=${String(json['rev'])}`, 'two', { 'content-type': 'text/y' })
  expect(second.json).toMatchObject({ ok: true })
  expect(await typesOf('edited')).toEqual({ a: 'text/x', b: 'text/y' })
  const { json: document } = await ask('GET /db/edited')
  expect((await ask('PUT /db/edited', { ...document, n: 2 })).json).toMatchObject({ ok: true })
  const { json: third } = await ask('GET /db/edited')
  expect((await ask(`DELETE /db/edited/a?rev=${String(third['_rev'])}`)).json).toMatchObject({ ok: true })
  expect(await typesOf('edited')).toEqual({ b: 'text/y' })
})

test('a view emits what its function reads', async () => {
  const { json } = await ask('GET /db/_design/types/_view/types?key="text/x"&limit=1')
  expect(json['rows']).toMatchObject([{ key: 'text/x' }])
})

test('the type is judged before anything is written', async () => {
  expect((await ask('PUT /db/refused/a', 'x', { 'content-type': 'text/z' })).status).toBe(403)
  const library = await ask('PUT /db/refused', { _attachments: { a: { contentType: 'text/x', data: '' } } })
  expect([library.status, library.json['reason']]).toEqual([403, expect.stringContaining('application/octet-stream')])
})

test('the library has its own name', async () => {
  const files = await running.server.gateway.collection(SYSTEM, 'db')
  expect((await files.get('inline'))?.['_attachments']).toMatchObject({ a: { contentType: 'text/x' } })
  const [outcome] = await files.put([{ _id: 'own', _attachments: { a: { contentType: 'text/y', data: 'aGVsbG8=' } } }])
  expect(outcome).toMatchObject({ id: 'own' })
  expect(await typesOf('own')).toEqual({ a: 'text/y' })
})
