/**
 * Goal: no document that CouchDB may hold stops its replication to us. Method: each kind of document that a server might refuse is
 * pushed among good ones as CouchDB's replicator does it. The good ones arrive, and so do the odd ones that have a place here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'
import { pushLikeCouchDB } from './couchdb-push.ts'
import type { PushedDocument } from './couchdb-push.ts'

const KIBIBYTE = 1024

let targets = 0

let running: TestServer
let url: string

beforeAll(async () => {
  running = await startServer({ limits: { documentBytesMax: 64 * KIBIBYTE, attachmentBytesMax: 256 * KIBIBYTE } })
  url = running.url
})
afterAll(() => running.close())

interface Kind {
  readonly name: string
  readonly pushed: Omit<PushedDocument, 'document'> & { readonly document: Readonly<Record<string, unknown>> }
  /** It has no place here: the replicator skips it. */
  readonly isRefused?: true
  /** The database that it is pushed to, if it matters. */
  readonly database?: '_users' | '_replicator'
}

const REV = `1-${'a'.repeat(32)}`

function kind(name: string, fields: Readonly<Record<string, unknown>>, rest: Omit<Kind, 'name' | 'pushed'> = {}): Kind {
  return { name, pushed: { document: { _id: 'odd', _rev: REV, ...fields } }, ...rest }
}

function design(name: string, fields: object, rest: Omit<Kind, 'name' | 'pushed'> = {}): Kind {
  return kind(`design document: ${name}`, { _id: '_design/odd', ...fields }, rest)
}

function attached(
  name: string,
  file: string,
  type: string,
  content: Uint8Array,
  rest: { isRefused?: true } = {},
): Kind {
  const attachments = { [file]: { type, content } }
  return { name: `attachment: ${name}`, pushed: { document: { _id: 'odd', _rev: REV }, attachments }, ...rest }
}

function written(name: string, json: string, rest: { isRefused?: true } = {}): Kind {
  const text = json.replace('{', `{"_id":"odd","_rev":"${REV}",`)
  return { name, pushed: { document: { _id: 'odd', _rev: REV }, json: text }, ...rest }
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const SMALL = Buffer.from('content')
const isRefused = true

const KINDS: readonly Kind[] = [
  design('a reduce of a newer version', { views: { v: { map: 'doc => emit(1, 1)', reduce: '_top_2' } } }),
  design('a reduce with white space', { views: { v: { map: 'doc => emit(1, 1)', reduce: '_sum\n' } } }),
  design('a map function that is none', { views: { v: { map: 'function (' } } }),
  design('a filter that is none', { filters: { f: 'function {' } }),
  design('a validation that is none', { validate_doc_update: 'function (' }, { isRefused }),
  design('a language that is no text', { language: 1, options: 1, rewrites: 1 }),
  design('Erlang', { language: 'erlang', views: { v: { map: 'fun(' } } }),
  design('an index of a kind that is not known', { language: 'query', views: { v: { map: { x: 1 }, reduce: 2 } } }),
  design('views that are none', { views: [1, 2], filters: 'x', shows: 3 }),
  design('too deep', { views: {}, deep: nested(250) }, { isRefused }),
  design('a long name', { _id: `_design/${'n'.repeat(5000)}`, views: {} }, { isRefused }),
  design('with a slash', { _id: '_design/a/b', views: {} }),
  attached('no content type', 'a', '', SMALL),
  attached('a content type that no header holds', 'a', 'text/\u4e2d', SMALL),
  attached('a content type of 500 characters', 'a', `text/${'x'.repeat(500)}`, SMALL),
  attached('nothing', 'a', 'text/plain', new Uint8Array(0)),
  attached('a name of 2,000 characters', 'n'.repeat(2000), 'text/plain', SMALL, { isRefused }),
  attached('a name with an underscore', '_n', 'text/plain', SMALL, { isRefused }),
  attached('a name with slashes and more', 'ü/../b c', 'text/plain', SMALL),
  attached('beyond the limit', 'a', 'text/plain', Buffer.alloc(300 * KIBIBYTE), { isRefused }),
  {
    name: 'attachment: 1,001 of them',
    pushed: {
      document: { _id: 'odd', _rev: REV },
      attachments: Object.fromEntries(
        Array.from({ length: 1001 }, (_, at) => [`a${at}`, { type: 'a/b', content: SMALL }]),
      ),
    },
    isRefused,
  },
  kind('arrays of 190 levels', { deep: nested(190) }),
  kind('arrays of 250 levels', { deep: nested(250) }, { isRefused }),
  written('arrays of 5,000 levels', `{"deep":${'['.repeat(5000)}${']'.repeat(5000)}}`, { isRefused }),
  kind('beyond the limit', { text: 'x'.repeat(70 * KIBIBYTE) }, { isRefused }),
  kind('an id of 4,096 bytes', { _id: 'i'.repeat(4096) }),
  kind('an id of 5,000 bytes', { _id: 'i'.repeat(5000) }, { isRefused }),
  kind('an id of 2,000 characters, each of three bytes', { _id: '\u4e2d'.repeat(2000) }, { isRefused }),
  kind('an id with U+0000', { _id: 'a\u0000b' }),
  kind('an id of spaces', { _id: '   ' }),
  kind('a revision of 300 characters', { _rev: `1-${'r'.repeat(300)}` }, { isRefused }),
  kind('a revision of 200 characters of two bytes', { _rev: `1-${'ü'.repeat(200)}` }, { isRefused }),
  kind('a generation of 20 digits', { _rev: '99999999999999999999-a' }, { isRefused }),
  kind('a history of 1,500 revisions', {
    _rev: '1500-r0',
    _revisions: { start: 1500, ids: Array.from({ length: 1500 }, (_, at) => `r${at}`) },
  }),
  kind('a tombstone with fields', { _deleted: true, n: 1 }),
  kind('what a replicator writes', {
    _replication_id: 'x',
    _replication_state: 'completed',
    _replication_state_time: '2026-01-01',
    _replication_state_reason: 'none',
    _replication_stats: { docs_read: 1 },
  }),
  kind('names of fields: empty, U+0000, prototypes', { '': 1, '\u0000': 2, constructor: 3, toString: 4 }),
  kind('noncharacters and a byte order mark', { text: '\ufffe\uffff\ufeff\u{1f600}' }),
  written('a number of 400 digits', `{"n":${'9'.repeat(400)}}`, { isRefused }),
  written('a number of 40 digits', `{"n":${'9'.repeat(40)}}`),
  written('half of a surrogate pair', '{"s":"\\ud800"}', { isRefused }),
  kind('no user', { type: 'user' }, { isRefused, database: '_users' }),
  kind('no replication', { source: 1 }, { isRefused, database: '_replicator' }),
]

describe('CouchDB pushes', () => {
  test.each(KINDS)('$name', async ({ pushed, isRefused: isPassedOver = false, database: given }) => {
    const database = given ?? `target-${++targets}`
    await send(url, `PUT /${database}`)
    const good = Array.from({ length: 12 }, (_, n): PushedDocument => {
      const _id = given === undefined ? `good${n}` : `_design/good${n}`
      return { document: { _id, _rev: REV, n } }
    })
    const odd = pushed as PushedDocument
    const changes = [...good.slice(0, 6), odd, ...good.slice(6), odd, good[0]!]
    const { written: arrived, passedOver } = await pushLikeCouchDB(url, database, changes)
    const goodIds = good.map(({ document }) => document._id)
    const expected = isPassedOver ? goodIds : [...goodIds, odd.document._id]
    expect([...arrived].sort()).toEqual(expected.sort())
    expect([...passedOver.keys()]).toEqual(isPassedOver ? [odd.document._id] : [])
    for (const reason of passedOver.values()) expect(reason).not.toBe('undefined')
    const { json } = await send(url, `POST /${database}/_all_docs`, { keys: expected })
    const rows = json['rows'] as { error?: string }[]
    expect(rows.filter((row) => row.error !== undefined)).toEqual([])
    // Each later try says the same, and writes nothing.
    const again = await pushLikeCouchDB(url, database, changes)
    expect([again.written, [...again.passedOver.keys()]]).toEqual([[], [...passedOver.keys()]])
  })

  test('37 kinds at least, and they are what they are said to be', () => {
    expect(KINDS.length).toBeGreaterThanOrEqual(37)
    expect(new Set(KINDS.map(({ name }) => name)).size).toBe(KINDS.length)
  })

  test('all of them at once', async () => {
    await send(url, 'PUT /target')
    const odd = KINDS.filter(({ database }) => database === undefined).map(({ pushed, isRefused: refused }, at) => {
      const { _id } = pushed.document as { _id: string }
      const own = `${_id}${at}`
      const document = { ...pushed.document, _id: own } as PushedDocument['document']
      const json = pushed.json?.replace('"_id":"odd"', `"_id":"${own}"`)
      const change: PushedDocument = { ...pushed, document, ...(json !== undefined && { json }) }
      return { change, isRefused: refused === true || _id.length === 4096 }
    })
    const good = Array.from({ length: 500 }, (_, n): PushedDocument => ({
      document: { _id: `good${n}`, _rev: REV, n },
    }))
    const changes = good.flatMap((one, at) => (odd[at] === undefined ? [one] : [odd[at].change, one]))
    const { passedOver, written: arrived } = await pushLikeCouchDB(url, 'target', changes)
    const refused = odd.filter((one) => one.isRefused).map(({ change }) => change.document._id)
    expect([...passedOver.keys()].sort()).toEqual(refused.sort())
    expect(arrived).toHaveLength(changes.length - refused.length)
    expect((await send(url, 'GET /target/_all_docs?limit=0')).json['total_rows']).toBe(arrived.length - 1)
  })
})
