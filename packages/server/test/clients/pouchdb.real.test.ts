/** PouchDB from npm, unmodified, over HTTP: as a client of the server, and as a replica that syncs with it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PouchDB } from '../../testing/pouch.js'
import type { PouchChange, PouchDocument } from '../../testing/pouch.js'
import findPlugin from 'pouchdb-find'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { contextOf } from '../../src/couch/server-context.ts'
import { faultProxy } from '../../testing/fault-proxy.ts'
import { MiddleServer } from '../../testing/middle-server.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, startServer, until } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

PouchDB.plugin(findPlugin)

/** From one try of PouchDB to the next. */
const BACK_OFF_MS = 50

let running: TestServer
let remote: PouchDB
let local: PouchDB
let count = 0

beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.close())
beforeEach(() => {
  count++
  remote = new PouchDB(`${running.adminUrl}/db${count}`)
  local = memoryPouch('local')
})

function memoryPouch(name: string): PouchDB {
  return new PouchDB(`${name}${count}`, { adapter: 'memory' })
}

function documents(from: number, to: number): PouchDocument[] {
  return Array.from({ length: to - from }, (_, at) => ({
    _id: `doc-${String(from + at).padStart(5, '0')}`,
    n: from + at,
  }))
}

/** Ids with every leaf that is live. */
async function contentOf(db: PouchDB): Promise<unknown> {
  const { rows } = await db.allDocs({ include_docs: true, conflicts: true })
  return rows.map(({ id, value, doc }) => [
    id,
    value.rev,
    doc?._conflicts?.toSorted(),
    { ...doc, _conflicts: undefined },
  ])
}

test('create, read, update, delete', async () => {
  const { rev } = await remote.put({ _id: 'ann/1', name: 'Ann', constructor: 1 })
  expect(await remote.get('ann/1')).toEqual({ _id: 'ann/1', _rev: rev, name: 'Ann', constructor: 1 })
  await expect(remote.put({ _id: 'ann/1' })).rejects.toMatchObject({ status: 409, name: 'conflict' })
  const updated = await remote.put({ _id: 'ann/1', _rev: rev, name: 'Anna' })
  expect(updated.rev).toMatch(/^2-/)
  expect(await remote.get('ann/1', { revs: true })).toMatchObject({ _revisions: { start: 2 } })
  await remote.remove(await remote.get('ann/1'))
  await expect(remote.get('ann/1')).rejects.toMatchObject({ status: 404, reason: 'deleted' })
  await expect(remote.get('bob')).rejects.toMatchObject({ status: 404, reason: 'missing' })
  const posted = await remote.post({ name: 'Bob' })
  expect((await remote.get(posted.id))['name']).toBe('Bob')
  expect(await remote.info()).toMatchObject({ doc_count: 1 })
  await remote.put({ _id: '_local/mine', a: 1 })
  expect(await remote.get('_local/mine')).toMatchObject({ a: 1, _rev: '0-1' })
  expect((await remote.compact()).ok).toBe(true)
})

test('bulk writes, lists and revisions', async () => {
  const results = await remote.bulkDocs(documents(0, 20))
  expect(results.every(({ ok }) => ok)).toBe(true)
  expect((await remote.bulkDocs([{ _id: 'doc-00001' }]))[0]).toMatchObject({ status: 409 })
  const { rows, total_rows: total } = await remote.allDocs({ startkey: 'doc-00005', limit: 3, include_docs: true })
  expect([total, rows.map(({ doc }) => doc?.['n'])]).toEqual([20, [5, 6, 7]])
  const keyed = await remote.allDocs({ keys: ['doc-00003', 'none', 'doc-00001'] })
  expect(keyed.rows.map((row) => row.error ?? row.id)).toEqual(['doc-00003', 'not_found', 'doc-00001'])
  const descending = await remote.allDocs({ descending: true, endkey: 'doc-00018', inclusive_end: false })
  expect(descending.rows.map(({ id }) => id)).toEqual(['doc-00019'])
  const got = await remote.bulkGet({ docs: [{ id: 'doc-00002' }, { id: 'none' }], revs: true })
  expect(got.results.map(({ docs }) => docs[0]!.ok?.['n'] ?? 'missing')).toEqual([2, 'missing'])
  expect(await remote.revsDiff({ 'doc-00000': ['9-x'] })).toMatchObject({ 'doc-00000': { missing: ['9-x'] } })
})

test('attachments', async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))
  const { rev } = await remote.putAttachment('a', 'dir/ä b.bin', undefined as never, bytes, 'application/x-test')
  expect(Buffer.compare(await remote.getAttachment('a', 'dir/ä b.bin'), bytes)).toBe(0)
  const inline = await remote.get('a', { attachments: true })
  expect(inline._attachments!['dir/ä b.bin']!.data).toBe(bytes.toString('base64'))
  const removed = await remote.removeAttachment('a', 'dir/ä b.bin', rev)
  expect((await remote.get('a'))._attachments).toBeUndefined()
  await remote.put({ _id: 'a', _rev: removed.rev, _attachments: { t: { content_type: 'text/plain', data: 'aGk=' } } })
  expect((await remote.get('a'))._attachments!['t']).toMatchObject({ stub: true, length: 2 })
})

test('find', async () => {
  await remote.bulkDocs(documents(0, 200))
  const { result } = await remote.createIndex({ index: { fields: ['n'] } })
  expect(result).toBe('created')
  expect((await remote.createIndex({ index: { fields: ['n'] } })).result).toBe('exists')
  const { docs } = await remote.find({ selector: { n: { $gte: 10, $lt: 13 } }, sort: [{ n: 'desc' }], fields: ['n'] })
  expect(docs).toEqual([{ n: 12 }, { n: 11 }, { n: 10 }])
  const { indexes } = await remote.getIndexes()
  expect(indexes.map(({ name }) => name)[0]).toBe('_all_docs')
  expect(indexes).toHaveLength(2)
  expect((await remote.explain({ selector: { n: 5 } })).index.name).toBe(indexes[1]!.name)
  expect(await remote.deleteIndex(indexes[1]!)).toMatchObject({ ok: true })
  expect((await remote.getIndexes()).indexes).toHaveLength(1)
})

test('changes: normal, live, filtered', async () => {
  await remote.bulkDocs(documents(0, 60))
  const all = await remote.changes({ since: 0, batch_size: 25 })
  expect(all.results).toHaveLength(60)
  expect((await remote.changes({ since: all.last_seq })).results).toEqual([])
  expect((await remote.changes({ doc_ids: ['doc-00003', 'doc-00030'] })).results.map(({ id }) => id)).toEqual([
    'doc-00003',
    'doc-00030',
  ])
  const selected = await remote.changes({ selector: { n: { $lt: 3 } }, include_docs: true })
  expect(selected.results.map(({ doc }) => doc?.['n'])).toEqual([0, 1, 2])
  expect((await remote.changes({ descending: true, limit: 1 })).results[0]!.id).toBe('doc-00059')
  const seen: string[] = []
  const live = remote
    .changes({ live: true, since: 'now', include_docs: true })
    .on('change', ({ id }: PouchChange) => seen.push(id))
  await until(() => contextOf(running.server.http).feeds.count > 0)
  await remote.put({ _id: 'new-1' })
  await until(() => seen.length === 1)
  await remote.put({ _id: 'new-2' })
  await until(() => seen.length === 2)
  live.cancel()
  await live
  expect(seen).toEqual(['new-1', 'new-2'])
})

test('replicates to and from, resumes at its replication checkpoint, and carries deletions', async () => {
  await local.bulkDocs(documents(0, 300))
  const pushed = await local.replicate.to(remote)
  expect(pushed).toMatchObject({ ok: true, docs_read: 300, docs_written: 300, doc_write_failures: 0 })
  await local.remove(await local.get('doc-00007'))
  await local.put({ _id: 'doc-00300', n: 300 })
  expect(await local.replicate.to(remote)).toMatchObject({ docs_read: 2, docs_written: 2 })
  const second = memoryPouch('second')
  const pulled = await second.replicate.from(remote)
  expect(pulled).toMatchObject({ ok: true, docs_written: 301 })
  expect(await contentOf(second)).toEqual(await contentOf(local))
  expect(await contentOf(remote)).toEqual(await contentOf(local))
  await remote.put({ _id: 'doc-00301' })
  expect(await second.replicate.from(remote)).toMatchObject({ docs_read: 1, docs_written: 1 })
  await expect(second.get('doc-00007')).rejects.toMatchObject({ status: 404 })
})

test('attachments replicate both ways', async () => {
  const bytes = Buffer.alloc(300_000, 'pannier')
  await local.put({
    _id: 'a',
    _attachments: {
      '2.bin': { content_type: 'application/octet-stream', data: bytes.toString('base64') },
      '1 ü.txt': { content_type: 'text/plain', data: 'aGk=' },
    },
  })
  await local.replicate.to(remote)
  expect(Buffer.compare(await remote.getAttachment('a', '2.bin'), bytes)).toBe(0)
  const { _rev: rev } = await remote.get('a')
  await remote.put({ ...(await remote.get('a')), edited: true, _rev: rev! })
  await local.replicate.from(remote)
  const back = await local.get('a', { attachments: true })
  expect(back['edited']).toBe(true)
  expect(back._attachments!['2.bin']!.data).toBe(bytes.toString('base64'))
  expect(back._attachments!['1 ü.txt']!.data).toBe('aGk=')
})

test('conflicts: every replica has the same winner and the same other leaves', async () => {
  const other = memoryPouch('other')
  await local.put({ _id: 'c', n: 0 })
  await local.sync(remote)
  await other.sync(remote)
  for (const [db, name] of [
    [local, 'local'],
    [other, 'other'],
    [remote, 'remote'],
  ] as const)
    await db.put({ ...(await db.get('c')), name })
  for (let round = 0; round < 2; round++) for (const db of [local, other]) await db.sync(remote)
  const { _conflicts, _rev } = await remote.get('c', { conflicts: true })
  expect(_conflicts).toHaveLength(2)
  for (const db of [local, other]) {
    const mine = await db.get('c', { conflicts: true })
    expect([mine._rev, mine._conflicts!.toSorted()]).toEqual([_rev, _conflicts!.toSorted()])
  }
  await remote.remove({ _id: 'c', _rev: _conflicts![0]! })
  for (const db of [local, other]) await db.sync(remote)
  expect(await contentOf(local)).toEqual(await contentOf(remote))
  expect(await contentOf(other)).toEqual(await contentOf(remote))
})

test('live sync between two replicas through the server', async () => {
  const other = memoryPouch('other')
  const syncs = [local, other].map((db) => db.sync(remote, { live: true, retry: true }))
  await local.put({ _id: 'from-local' })
  await other.put({ _id: 'from-other' })
  await remote.put({ _id: 'from-remote' })
  const isThere = async (): Promise<boolean> => {
    const counts = await Promise.all([local, other, remote].map(async (db) => (await db.info()).doc_count))
    return counts.every((one) => one === 3)
  }
  await until(isThere)
  for (const one of syncs) one.cancel()
  await Promise.all(syncs)
  await until(() => contextOf(running.server.http).feeds.count === 0)
})

test('a restarted server continues where it was', async () => {
  const first = await startServer()
  const port = Number(new URL(first.url).port)
  const db = new PouchDB(`${first.adminUrl}/again`)
  await local.bulkDocs(documents(0, 50))
  await local.replicate.to(db)
  await first.server.close()
  const second = await startServer({ dir: first.dir })
  const moved = new PouchDB(`${second.adminUrl}/again`)
  expect(await contentOf(moved)).toEqual(await contentOf(local))
  expect(port).toBeGreaterThan(0)
  await second.close()
  await first.close()
})

test('only with credentials', async () => {
  await remote.put({ _id: 'a' })
  const name = remote.name.slice(remote.name.lastIndexOf('/') + 1)
  const stranger = new PouchDB(`${running.url}/${name}`, { skip_setup: true })
  await expect(stranger.get('a')).rejects.toMatchObject({ status: 401 })
  await expect(local.replicate.to(stranger)).rejects.toMatchObject({ status: 401 })
  const auth = { username: ADMIN_NAME, password: ADMIN_PASSWORD }
  expect(await local.replicate.from(new PouchDB(`${running.url}/${name}`, { auth }))).toMatchObject({ docs_written: 1 })
})

test('live sync continues when the server is killed and starts again', async () => {
  const server = await MiddleServer.start()
  // PouchDB asks for this when a replication fails, and nobody catches it if that fails as well.
  const proxy = await faultProxy(server.url, 1, 0, ({ method, url }) => method === 'GET' && url === '/live/')
  const url = `${proxy.url.replace('//', `//${ADMIN_NAME}:${ADMIN_PASSWORD}@`)}/live`
  const other = memoryPouch('other')
  const again = { live: true, retry: true, back_off_function: () => BACK_OFF_MS }
  const syncs = [local, other].map((db) => db.sync(url, again))
  const meet = async (count: number): Promise<void> => {
    const isThere = async (): Promise<boolean> => {
      const counts = await Promise.all([local, other].map(async (db) => (await db.info()).doc_count))
      return counts.every((one) => one === count)
    }
    await until(isThere)
  }
  await local.put({ _id: 'before' })
  await meet(1)
  server.restart('kill')
  await local.put({ _id: 'meanwhile here' })
  await other.put({ _id: 'meanwhile there' })
  await meet(3)
  for (const one of syncs) one.cancel()
  // PouchDB does not clear its timer.
  await sleep(BACK_OFF_MS)
  await proxy.close()
  expect(await server.end()).toEqual([])
})
