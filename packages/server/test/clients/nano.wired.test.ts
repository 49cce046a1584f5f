/** nano from npm, unmodified: CouchDB's official client. */
import { once } from 'node:events'
import nano from 'nano'
import type { DocumentScope, ServerScope } from 'nano'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contextOf } from '../../src/couch/server-context.ts'
import { startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

interface Person {
  _id?: string
  _rev?: string
  name?: string
  age?: number
}

let running: TestServer
let server: ServerScope
let people: DocumentScope<Person>

beforeAll(async () => {
  running = await startServer()
  server = nano(running.adminUrl)
  await server.db.create('people')
  people = server.use<Person>('people')
})
afterAll(() => running.close())

test('databases', async () => {
  await server.db.create('other/one')
  expect(await server.db.list()).toEqual(['_replicator', '_users', 'other/one', 'people', 'users'])
  expect(await server.db.get('people')).toMatchObject({ db_name: 'people', doc_count: 0, compact_running: false })
  await expect(server.db.create('people')).rejects.toMatchObject({ statusCode: 412, error: 'file_exists' })
  expect(await server.db.destroy('other/one')).toEqual({ ok: true })
  await expect(server.db.get('other/one')).rejects.toMatchObject({ statusCode: 404 })
  expect((await server.info()).couchdb).toBe('Welcome')
  expect((await server.uuids(3)).uuids).toHaveLength(3)
  await server.db.compact('people')
})

test('documents', async () => {
  const { rev } = await people.insert({ name: 'Ann', age: 31 }, 'ann')
  expect(await people.get('ann')).toEqual({ _id: 'ann', _rev: rev, name: 'Ann', age: 31 })
  expect((await people.head('ann')).etag).toBe(`"${rev}"`)
  await expect(people.insert({ name: 'Ann' }, 'ann')).rejects.toMatchObject({ statusCode: 409 })
  const results = await people.bulk({
    docs: [
      { _id: 'bob', age: 20 },
      { _id: 'cy', age: 40 },
    ],
  })
  expect(results.map(({ id }) => id)).toEqual(['bob', 'cy'])
  expect((await people.list({ include_docs: true })).rows.map(({ doc }) => doc?.age)).toEqual([31, 20, 40])
  expect((await people.fetch({ keys: ['cy', 'none'] })).rows).toHaveLength(2)
  await server.db.create('copies')
  await people.destroy('cy', results[1]!.rev!)
  await expect(people.get('cy')).rejects.toMatchObject({ statusCode: 404, reason: 'deleted' })
})

test('Mango', async () => {
  await people.createIndex({ index: { fields: ['age'] }, ddoc: 'by-age', name: 'age' })
  const found = await people.find({ selector: { age: { $gt: 25 } }, fields: ['name'] })
  expect(found.docs).toEqual([{ name: 'Ann' }])
})

test('attachments, alone and with their document', async () => {
  const pixels = Buffer.from([1, 2, 3])
  await people.attachment.insert('photo', 'a.png', pixels, 'image/png')
  expect(Buffer.compare(await people.attachment.get('photo', 'a.png'), pixels)).toBe(0)
  await people.multipart.insert(
    { name: 'with attachments' },
    [
      { name: 'one.txt', data: 'one', content_type: 'text/plain' },
      { name: 'two.bin', data: pixels, content_type: 'application/octet-stream' },
    ],
    'multi',
  )
  expect(Buffer.compare(await people.attachment.get('multi', 'two.bin'), pixels)).toBe(0)
  expect((await people.attachment.get('multi', 'one.txt')).toString()).toBe('one')
  const whole = await people.multipart.get('multi')
  expect(String(whole)).toContain('with attachments')
})

test('changes', async () => {
  const { results, last_seq: last } = await people.changes({ limit: 2 })
  expect(results).toHaveLength(2)
  expect(last).toMatch(/^\d+-[0-9a-f]+$/)
  const reader = people.changesReader.get({ since: '0', batchSize: 4, timeout: 50 })
  const ids: string[] = []
  reader.on('change', ({ id }: { id: string }) => ids.push(id))
  await new Promise((resolve) => reader.once('end', resolve))
  expect(ids.toSorted()).toEqual(['_design/by-age', 'ann', 'bob', 'cy', 'multi', 'photo'])
})

test('users and sessions: rights follow the cookie', async () => {
  await server.use('_users').insert({
    _id: 'org.couchdb.user:ann',
    name: 'ann',
    password: 'a long password',
    roles: [],
    type: 'user',
  } as object)
  const strangers = nano(running.url)
  await expect(strangers.use('people').get('ann')).rejects.toMatchObject({ statusCode: 401 })
  await expect(strangers.auth('ann', 'wrong')).rejects.toMatchObject({ statusCode: 401 })
  await server.db.create('hers')
  await server.request({
    db: 'hers',
    method: 'put',
    path: '_security',
    body: { members: { names: ['ann'], roles: [] } },
  })
  // nano keeps no cookies of its own accord.
  const answer = await fetch(`${running.url}/_session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ann', password: 'a long password' }),
  })
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
  const ann = nano({ url: running.url, headers: { cookie } })
  expect((await ann.session()).userCtx).toMatchObject({ name: 'ann' })
  const { rev } = await ann.use<Person>('hers').insert({ name: 'Ann' }, 'mine')
  expect(await ann.use('hers').get('mine')).toMatchObject({ _rev: rev })
  await expect(ann.use('people').get('ann')).rejects.toMatchObject({ statusCode: 403 })
  await expect(ann.db.create('another')).rejects.toMatchObject({ statusCode: 401 })
})

test('views of design documents', async () => {
  const views = {
    by_age: { map: 'function (doc) { if (doc.age) emit(doc.age, doc.name) }', reduce: '_count' },
  }
  await people.insert({ views } as object as Person, '_design/app')
  await people.insert({ name: 'Dan', age: 50 }, 'dan')
  const { rows } = await people.view('app', 'by_age', { reduce: false, startkey: 25, include_docs: true })
  expect(rows.map(({ key, doc }) => [key, doc?.name])).toEqual([
    [31, 'Ann'],
    [50, 'Dan'],
  ])
  expect((await people.view('app', 'by_age')).rows).toEqual([{ key: null, value: 3 }])
})

test('the changes reader follows what is written', async () => {
  const asked = once(running.server.http.server, 'request')
  const reader = people.changesReader.start({ since: 'now', wait: false, timeout: 10_000 })
  const ids: string[] = []
  const both = Promise.withResolvers<void>()
  const errors: unknown[] = []
  reader.on('change', ({ id }: { id: string }) => {
    if (ids.push(id) === 2) both.resolve()
  })
  // To stop while it waits is an error to nano, which is thrown where nobody listens.
  reader.on('error', (error) => errors.push(error))
  await asked
  await virtualEnvironment().idle()
  expect(contextOf(running.server.http).feeds.count).toBeGreaterThan(0)
  for (const id of ['first', 'second']) await people.insert({ name: id }, id)
  await both.promise
  expect(errors).toEqual([])
  const ended = new Promise((resolve) => reader.once('end', resolve))
  people.changesReader.stop()
  await ended
  expect(ids).toEqual(['first', 'second'])
})
