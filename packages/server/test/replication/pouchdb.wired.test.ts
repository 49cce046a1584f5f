/** Goal: replication with a server that others have made, as it is and with what fails on the way. */
import { afterEach, expect, test } from 'vitest'
import { open } from 'pannier'
import type { Database, ReplicationEvent } from 'pannier'
import { memory } from 'pannier/memory'
import type { PouchChange } from '../../testing/pouch.js'
import { pouchServer } from '../../testing/pouchdb-server.ts'
import type { Intercept, PouchServer } from '../../testing/pouchdb-server.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function start(intercept?: Intercept): Promise<{ server: PouchServer; db: Database }> {
  const server = await pouchServer(intercept)
  const db = await open('client', { storage: memory() })
  opened.push(server, db)
  return { server, db }
}

const PICTURE = new Uint8Array(300_000).map((_, at) => at % 251)

function isPicture(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).equals(PICTURE)
}

test('pull and push: documents, conflicts, tombstones, attachments', async () => {
  const { server, db } = await start()
  const remote = server.database('remote')
  const local = db.collection('local')
  await remote.put({ _id: 'a', n: 1 })
  await remote.put({ _id: 'gone', n: 2 })
  await remote.put({ _id: 'gone', _rev: (await remote.get('gone'))._rev, _deleted: true })
  await remote.bulkDocs(
    [
      { _id: 'forked', _rev: '1-a', side: 'a' },
      { _id: 'forked', _rev: '1-b', side: 'b' },
    ],
    { new_edits: false },
  )
  const data = Buffer.from('small').toString('base64')
  await remote.put({ _id: 'with/slash ü', _attachments: { 'a b.txt': { content_type: 'text/plain', data } } })
  await remote.put({
    _id: 'big',
    _attachments: { 'dir/picture.png': { content_type: 'image/png', data: Buffer.from(PICTURE).toString('base64') } },
  })
  const events: ReplicationEvent[] = []
  const pull = local.replicate({ from: `${server.url}/remote` })
  pull.subscribe((event) => events.push(event))
  const result = await pull
  expect(result).toMatchObject({ ok: true, status: 'complete', docsRead: 6, docsWritten: 6, docsDenied: 0, pending: 0 })
  expect(events.map(({ type }) => type)).toContain('conflict')
  expect(await local.get('a')).toMatchObject({ n: 1 })
  expect(await local.get('gone')).toBeUndefined()
  expect(await local.get('forked', { conflicts: true })).toMatchObject({ side: 'b', _conflicts: ['1-a'] })
  expect(await (await local.getAttachment('with/slash ü', 'a b.txt'))!.text()).toBe('small')
  expect(isPicture(await (await local.getAttachment('big', 'dir/picture.png'))!.bytes())).toBe(true)
  // An edit that keeps the attachment, and new ones of all sizes, go the other way.
  const big = (await local.get('big'))!
  await local.put({ ...big, seen: true })
  await local.putAttachment('a', 'huge.bin', PICTURE, { contentType: 'application/x-test' })
  await local.putAttachment('here', 'tiny.txt', new Blob(['tiny'], { type: 'text/plain' }))
  const pushed = await local.replicate({ to: `${server.url}/remote` })
  expect(pushed).toMatchObject({ ok: true, docsWritten: 3 })
  expect(isPicture(await remote.getAttachment('a', 'huge.bin'))).toBe(true)
  expect(isPicture(await remote.getAttachment('big', 'dir/picture.png'))).toBe(true)
  expect(String(await remote.getAttachment('here', 'tiny.txt'))).toBe('tiny')
  // The next time there is nothing to look at.
  expect(await local.replicate({ to: `${server.url}/remote` })).toMatchObject({ changesChecked: 0 })
  expect((await db.check()).problems).toEqual([])
})

test('a missing database is created for a push, and is an error for a pull', async () => {
  const { server, db } = await start()
  const local = db.collection('local')
  await local.insert({ _id: 'a' })
  await expect(local.replicate({ from: `${server.url}/none` })).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
  await expect(local.replicate({ to: `${server.url}/none`, create: false })).rejects.toMatchObject({
    code: 'PANNIER_NOT_FOUND',
  })
  await local.replicate({ to: `${server.url}/new` })
  expect((await server.database('new').get('a'))._id).toBe('a')
})

test('live sync with retry: changes of both sides cross, also over a long poll', async () => {
  const { server, db } = await start()
  const remote = server.database('remote')
  const local = db.collection('local')
  /** Resolves when each of both has come to the other side. */
  const crossed = async (there: string, here: string): Promise<void> => {
    const pulled = (async () => {
      for await (const { id } of local.changes({ live: true })) if (id === there) return
    })()
    const feed = remote.changes({ live: true, since: 0 })
    await new Promise<void>((resolve) => {
      feed.on('change', ({ id }: PouchChange) => void (id === here && resolve()))
    })
    feed.cancel()
    await pulled
  }
  await remote.put({ _id: 'there' })
  await local.insert({ _id: 'here' })
  const both = crossed('there', 'here')
  const sync = local.sync(`${server.url}/remote`, { live: true })
  const paused = new Promise<void>((resolve) => {
    sync.subscribe((event) => void (event.type === 'status' && event.status === 'paused' && resolve()))
  })
  await both
  await paused
  const later = crossed('later there', 'later here')
  await remote.put({ _id: 'later there' })
  await local.insert({ _id: 'later here' })
  await later
  sync.cancel()
  expect(await sync).toMatchObject({ status: 'cancelled' })
})

test('ids, selector, functions and filters by name', async () => {
  const { server, db } = await start()
  const remote = server.database('remote')
  for (let n = 0; n < 10; n++) await remote.put({ _id: `d${n}`, n })
  await remote.put({
    _id: '_design/app',
    filters: { large: 'function (doc, req) { return doc.n >= Number(req.query.min) }' },
  })
  let asked = 0
  const ids = async (options: object): Promise<string[]> => {
    const collection = db.collection(`c${++asked}`)
    await collection.replicate({ from: `${server.url}/remote`, ...options })
    return (await collection.list().toArray()).map(({ id }) => id)
  }
  expect(await ids({ ids: ['d1', 'd4', 'nothing'] })).toEqual(['d1', 'd4'])
  expect(await ids({ filter: ({ n }: { n?: number }) => n === 3, batchSize: 4 })).toEqual(['d3'])
  expect(await ids({ filter: 'app/large', parameters: { min: '8' } })).toEqual(['d8', 'd9'])
  expect(await ids({ selector: { n: { $gte: 7 } } })).toEqual(['d7', 'd8', 'd9'])
  expect(await ids({ selector: { n: { $gte: 4 } }, ids: ['d1', 'd4'] })).toEqual(['d4'])
})

test('a refused document is reported, and the others are written', async () => {
  const { server, db } = await start((request, response) => {
    if (request.method !== 'POST' || request.url?.includes('_bulk_docs') !== true) return false
    return refusePoison(request, response)
  })
  const local = db.collection('local')
  await local.insert(Array.from({ length: 50 }, (_, n) => ({ _id: `d${n}`, poison: n === 17 || n === 30 })))
  const denied: string[] = []
  const push = local.replicate({ to: `${server.url}/remote` })
  push.subscribe((event) => void (event.type === 'denied' && denied.push(`${event.id} ${event.error.code}`)))
  expect(await push).toMatchObject({ ok: false, status: 'complete', docsWritten: 48, docsDenied: 2 })
  expect(denied).toEqual(['d17 PANNIER_PEER_REFUSED', 'd30 PANNIER_PEER_REFUSED'])
})

test('a server without _bulk_get', async () => {
  const { server, db } = await start((request, response) => {
    if (request.url?.includes('_bulk_get') !== true) return false
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found","reason":"missing"}')
    return true
  })
  const remote = server.database('remote')
  for (let n = 0; n < 30; n++) await remote.put({ _id: `d${n}`, n })
  expect(await db.collection('local').replicate({ from: `${server.url}/remote` })).toMatchObject({ docsWritten: 30 })
})

test('credentials go into a header only; a 401 is no reason to try again', async () => {
  const seen = new Set<string>()
  const { server, db } = await start((request, response) => {
    seen.add(`${request.headers.authorization} ${request.url?.includes('secret')}`)
    if (request.headers.authorization === `Basic ${btoa('ann:secret pass')}`) return false
    response.writeHead(401).end('{"error":"unauthorized","reason":"Name or password is incorrect."}')
    return true
  })
  await server.database('remote').put({ _id: 'a' })
  const local = db.collection('local')
  const url = new URL(`${server.url}/remote`)
  await expect(local.replicate({ from: url, live: true })).rejects.toMatchObject({ details: { status: 401 } })
  url.username = 'ann'
  url.password = 'secret pass'
  expect(await local.replicate({ from: url })).toMatchObject({ docsWritten: 1 })
  expect([...seen]).toEqual(['undefined false', `Basic ${btoa('ann:secret pass')} false`])
  const [checkpoint] = await local.local.list()
  expect(JSON.stringify(checkpoint)).not.toContain('secret')
})

test('a server that is wiped, or restored, is filled again', async () => {
  const { server, db } = await start()
  const local = db.collection('local')
  await local.insert(Array.from({ length: 20 }, (_, n) => ({ _id: `d${n}` })))
  const url = `${server.url}/remote`
  await local.replicate({ to: url })
  await fetch(url, { method: 'DELETE' })
  expect(await local.replicate({ to: url })).toMatchObject({ docsWritten: 20 })
  // Wiped here: another epoch, so everything comes again.
  await db.dropCollection('local')
  expect(await db.collection('local').replicate({ from: url })).toMatchObject({ docsWritten: 20 })
})

function refusePoison(request: Parameters<Intercept>[0], response: Parameters<Intercept>[1]): boolean {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const isPoisoned = text.includes('"poison":true')
    response.writeHead(isPoisoned ? 413 : 201, { 'content-type': 'application/json' })
    response.end(isPoisoned ? '{"error":"document_too_large","reason":"no"}' : '[]')
  })
  return true
}
