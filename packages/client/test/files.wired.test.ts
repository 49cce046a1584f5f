/** Goal: files are written as all else is: shown at once without a network, sent once, judged by rules and their fields, and never lost. */
import { rm } from 'node:fs/promises'
import { open } from 'pannier'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { dropFiles } from '../src/files.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

const OPTIONS = { collections: ['albums'] }

const clock = virtualEnvironment()
let app: AppServer
let ann: User
let device: Device
let client: AppClient

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
  const { status, text } = await app.call('POST /collections', {
    name: 'albums',
    type: 'base',
    listRule: 'owner = @request.auth.id',
    viewRule: 'owner = @request.auth.id',
    createRule: 'owner = @request.auth.id',
    updateRule: 'owner = @request.auth.id',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'owner', type: 'text' },
      { name: 'cover', type: 'file', maxSize: 1000, mimeTypes: ['text/plain'] },
      { name: 'pages', type: 'file', maxSelect: 5, protected: true },
    ],
  })
  expect([status, text]).toEqual([200, expect.anything()])
})
beforeEach(async () => {
  app.isDown = false
  app.lose = () => undefined
  device = new Device(app)
  client = await device.openAs(ann, OPTIONS)
  await client.sync()
  return () => client.close()
})
afterAll(() => app[Symbol.asyncDispose]())

type Album = Record<string, unknown> & { readonly id: string; readonly collectionName: string }

const file = (text: string, name = `${text}.txt`): File => new File([text], name, { type: 'text/plain' })
const albums = (): ReturnType<AppClient['collection']> => client.collection('albums')
const shown = async (id: string): Promise<Album> => (await albums().get(id)) as unknown as Album
const stored = async (id: string): Promise<Album> => (await app.listed('albums', ann)).get(id) as Album
const texts = async (id: string, names: unknown): Promise<string[]> =>
  Promise.all((names as string[]).map(async (name) => (await client.file(await shown(id), name)).text()))

/** What another program gets by REST, past the client. */
async function downloaded({ id }: Album, name: unknown): Promise<string> {
  return (await fetch(`${app.backendUrl}/api/files/albums/${id}/${String(name)}`)).text()
}

async function reopen(): Promise<void> {
  await client.close()
  client = await device.open(OPTIONS)
}

test('a file is there at once, also after a start without a network, and is sent later', async () => {
  app.isDown = true
  const write = albums().create({ title: 'Holidays', owner: ann.id, cover: file('sea') })
  const { id } = await write
  await reopen()
  const { cover } = await shown(id)
  expect(cover).toMatch(/^new\/[0-9a-f]{32}\/sea\.txt$/)
  expect(await texts(id, [cover])).toEqual(['sea'])
  app.isDown = false
  await client.sync()
  const album = await shown(id)
  expect(album).toMatchObject({ title: 'Holidays', cover: expect.stringMatching(/^sea_\w{10}\.txt$/) })
  expect([await stored(id), await downloaded(album, album['cover'])]).toEqual([
    expect.objectContaining({ cover: album['cover'] }),
    'sea',
  ])
  expect(await texts(id, [album['cover']])).toEqual(['sea'])
})

test('files of a list are added to those that wait and to those of the server, and go by their names', async () => {
  app.isDown = true
  const { id } = await albums().create({ owner: ann.id, pages: [file('one')] })
  const { pages: waiting } = await shown(id)
  await albums().update(id, { pages: [...(waiting as string[]), file('two')] })
  await albums().update(id, { 'pages+': file('three') })
  expect(await texts(id, (await shown(id))['pages'])).toEqual(['one', 'two', 'three'])
  app.isDown = false
  await client.sync()
  expect(await client.rejected()).toEqual([])
  const pages = (await shown(id))['pages'] as string[]
  expect(pages).toEqual((await stored(id))['pages'])
  expect(await texts(id, pages)).toEqual(['one', 'two', 'three'])
  await albums().update(id, { 'pages-': pages[1] })
  await albums().update(id, { pages: [...((await shown(id))['pages'] as string[]), file('four')] })
  await client.sync()
  expect(await texts(id, (await shown(id))['pages'])).toEqual(['one', 'three', 'four'])
})

test('a lost answer sends a file again, and it is written once', async () => {
  const { id } = await albums().create({ owner: ann.id, pages: [] })
  await client.sync()
  await albums().update(id, { 'pages+': [file('one')] }, { overwrite: true })
  let pushes = 0
  app.lose = (path) => (path.endsWith('/push') && pushes++ === 0 ? 'answer' : undefined)
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  await client.sync()
  expect([pushes, await texts(id, (await shown(id))['pages'])]).toEqual([2, ['one']])
})

test('what the field does not take is refused with the reason, and its content is there to be retried', async () => {
  const { id } = await albums().create({ owner: ann.id, title: 'a' })
  const write = albums().update(id, { title: 'b', cover: file('x'.repeat(1001), 'long.txt') })
  await write
  await client.sync()
  expect(await write.server).toMatchObject({
    status: 'rejected',
    rejected: { code: 'INVALID', data: { cover: { code: 'validation_file_size_limit' } } },
  })
  await reopen()
  const [rejected] = await client.rejected()
  const { mine } = rejected!.writes[0]!
  const content = await client.file(await shown(id), String(mine['cover']))
  expect(content.size).toBe(1001)
  await app.call('PATCH /collections/albums', { fields: await fieldsWith({ cover: { maxSize: 2000 } }) })
  const again = rejected!.retry()
  await again
  await client.sync()
  expect([await again.server, (await downloaded(await stored(id), (await stored(id))['cover'])).length]).toEqual([
    { status: 'ok' },
    1001,
  ])
})

async function fieldsWith(changes: Record<string, object>): Promise<object[]> {
  const { json } = await app.call('GET /collections/albums')
  return (json['fields'] as { name: string }[]).map((field) => ({ ...field, ...changes[field.name] }))
}

test('a file that a proxy does not take is refused alone, and nothing waits for it', async () => {
  app.lose = (path, bytes) => (path.endsWith('/push') && bytes > 2000 ? 'tooLarge' : undefined)
  const writes = [file('a'), file('x'.repeat(3000)), file('b')].map((pages) =>
    albums().create({ owner: ann.id, pages }),
  )
  for (const write of writes) await write
  await client.sync()
  expect((await Promise.all(writes.map(({ server }) => server))).map(({ status }) => status)).toEqual([
    'ok',
    'rejected',
    'ok',
  ])
})

test('a restored server gets a file again', async () => {
  const copy = await app.copy()
  await client.sync()
  const { id } = await albums().create({ owner: ann.id, cover: file('kept') })
  await client.sync()
  await reopen()
  await client.sync()
  await app.restart(copy)
  await rm(copy, { recursive: true })
  await client.sync()
  const album = await stored(id)
  expect(await downloaded(album, album['cover'])).toBe('kept')
})

test('content goes with the next start when nothing names it any more', async () => {
  await albums().create({ owner: 'somebody else', cover: file('secret') })
  await client.sync()
  const [rejected] = await client.rejected()
  await reopen()
  await rejected!.discard().catch(() => {})
  const [again] = await client.rejected()
  const name = String(again!.writes[0]!.mine['cover'])
  const record = { id: 'x', collectionName: 'albums' }
  expect(await (await client.file(record, name)).text()).toBe('secret')
  await again!.discard()
  await reopen()
  await expect(client.file(record, name)).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
})

test('protected files are given to those who may see the record, and to nobody else', async () => {
  const { id } = await albums().create({ owner: ann.id, pages: [file('secret')] })
  await client.sync()
  const album = await shown(id)
  const [name] = album['pages'] as string[]
  expect(await (await client.file(album, name!)).text()).toBe('secret')
  const ben = await app.addUser(`ben${id}`)
  await using other = await new Device(app).openAs(ben, OPTIONS)
  await expect(other.file(album, name!)).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
})

test('a file that was shown once is there without a network, for as long as its record names it', async () => {
  const other = await new Device(app).openAs(ann, OPTIONS)
  const album = (await other.collection('albums').create({
    owner: ann.id,
    title: 'a',
    cover: file('sea'),
    pages: [file('one'), file('two')],
  })) as Album
  await other.sync()
  await client.sync()
  const { cover, pages } = await shown(album.id)
  const [one, two] = pages as [string, string]
  for (const name of [cover, one]) await client.file(album, String(name))
  app.isDown = true
  await reopen()
  expect(await texts(album.id, [cover, one])).toEqual(['sea', 'one'])
  await expect(client.file(album, two)).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  app.isDown = false
  await other.sync()
  await other.collection('albums').update(album.id, { 'pages-': one })
  await other.sync()
  await client.sync()
  app.isDown = true
  expect(await texts(album.id, [cover])).toEqual(['sea'])
  await expect(client.file(album, one)).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  app.isDown = false
  // The right to see the record is taken away. Nothing of it stays.
  await app.call(`PATCH /collections/albums/records/${album.id}`, { owner: 'somebody else' })
  await client.sync()
  app.isDown = true
  await expect(client.file(album, String(cover))).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  await client.close()
  expect((await device.documents(`users-${ann.id}`)).filter((each) => 'bytes' in each)).toEqual([])
  client = await device.open(OPTIONS)
  await other.close()
})

test('a server that does not answer for a file, or fails, is said to be unreachable', async () => {
  const { id } = await albums().create({ owner: ann.id, cover: file('sea') })
  await client.sync()
  await reopen()
  const album = await shown(id)
  await client.close()
  client = await device.open(OPTIONS)
  app.before = (path) => (path.startsWith('/api/files/') ? new Promise(() => {}) : Promise.resolve())
  const answer = expect(client.file(album, 'another_a1b2c3d4e5.txt')).rejects.toMatchObject({
    code: 'PANNIER_PEER_UNREACHABLE',
  })
  await clock.advance(60_000)
  await answer
  app.before = async () => {}
})

test('files without a name, and with those of folders, are sent', async () => {
  const { id } = await albums().create({ owner: ann.id, pages: [file('a', ''), file('b', '..'), file('c', 'x/y.txt')] })
  await client.sync()
  expect(await client.rejected()).toEqual([])
  expect(await texts(id, (await shown(id))['pages'])).toEqual(['a', 'b', 'c'])
})

test('a file that waits can be taken away again', async () => {
  const album = (await albums().create({ owner: ann.id, pages: [file('one'), file('two')] })) as Album
  await albums().update(album.id, { 'pages-': (album['pages'] as string[])[0] })
  expect(await texts(album.id, (await shown(album.id))['pages'])).toEqual(['two'])
  await client.sync()
  expect(await client.rejected()).toEqual([])
  expect(await texts(album.id, (await shown(album.id))['pages'])).toEqual(['two'])
})

/** Pushes with files wait at the proxy, or fail. */
function holdUploads(loss: 'request' | (() => Promise<void>)): void {
  app.lose = (path, bytes) => (path.endsWith('/push') && bytes > 2000 ? loss : undefined)
}

test('what has nothing to do with a slow upload goes past it, and what has waits', async () => {
  const held = Promise.withResolvers<void>()
  holdUploads(() => held.promise)
  const slow = albums().create({ owner: ann.id, title: 'slow', pages: [file('x'.repeat(3000))] })
  const { id } = await slow
  const builds = albums().update(id, { title: 'slower' })
  const names = albums().create({ owner: ann.id, title: id })
  const free = albums().create({ owner: ann.id, title: 'free' })
  await Promise.all([builds, names, free])
  const synced = client.sync()
  expect(await free.server).toEqual({ status: 'ok' })
  const later = albums().create({ owner: ann.id, title: 'later' })
  await later
  await app.add('albums', { owner: ann.id, title: 'from elsewhere' })
  const round = client.sync()
  expect(await later.server).toEqual({ status: 'ok' })
  await clock.idle()
  expect([...(await seen(client, 'albums')).values()].map(({ title }) => title)).toContain('from elsewhere')
  expect(client.state.unsent).toBe(3)
  held.resolve()
  await Promise.all([synced, round])
  expect(await Promise.all([slow, builds, names].map(({ server }) => server))).toEqual(
    [1, 2, 3].map(() => ({ status: 'ok' })),
  )
  expect((await stored(id))['title']).toBe('slower')
})

test('an upload that fails again and again keeps nothing else from being sent and pulled', async () => {
  holdUploads('request')
  const slow = albums().create({ owner: ann.id, pages: [file('x'.repeat(3000))] })
  await slow
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  const free = albums().create({ owner: ann.id, title: 'free' })
  await free
  const other = await app.add('albums', { owner: ann.id })
  await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect([await free.server, client.state.unsent]).toEqual([{ status: 'ok' }, 1])
  expect(await shown(other)).toBeDefined()
  app.lose = () => undefined
  await client.sync()
  expect(await slow.server).toEqual({ status: 'ok' })
})

test('a live client sends files beside all else, and sees what became of them', async () => {
  const held = Promise.withResolvers<void>()
  holdUploads(() => held.promise)
  await client.close()
  client = await device.open({ ...OPTIONS, live: true })
  const slow = albums().create({ owner: ann.id, pages: [file('x'.repeat(3000))] })
  await slow
  await clock.idle()
  expect(client.state.status).toBe('synced')
  for (const title of ['one', 'two'])
    expect(await albums().create({ owner: ann.id, title }).server).toEqual({ status: 'ok' })
  held.resolve()
  expect(await slow.server).toEqual({ status: 'ok' })
  const { id } = await slow
  await clock.idle()
  expect((await shown(id))['pages']).toEqual([expect.stringMatching(/^x{1,}_\w{10}\.txt$/)])
})

test('content that the server has goes when there is much that is newer', async () => {
  const stored: Album[] = []
  for (const text of ['one', 'two', 'three'])
    stored.push((await albums().create({ owner: ann.id, pages: [file(text)] })) as Album)
  await client.sync()
  const waiting = (await albums().create({ owner: ann.id, pages: [file('four')] })) as Album
  await client.close()
  const db = await open(`${device.name}-users-${ann.id}`, { storage: device.storage })
  const texts = async (): Promise<string[]> => {
    const files = await db.collection('$files').find().toArray()
    return Promise.all(
      files.map(async ({ _id }) => (await db.collection('$files').getAttachment(_id, 'content'))!.text()),
    )
  }
  expect((await texts()).toSorted()).toEqual(['four', 'one', 'three', 'two'])
  await dropFiles(db, 'two'.length + 'three'.length)
  expect((await texts()).toSorted()).toEqual(['four', 'three', 'two'])
  await dropFiles(db, 0)
  expect(await texts()).toEqual(['four'])
  await db.close()
  client = await device.open(OPTIONS)
  await client.sync()
  expect(await client.rejected()).toEqual([])
  for (const { id } of [...stored, waiting]) expect((await shown(id))['pages']).toHaveLength(1)
})

test('files of a transaction go together, and a text is a text', async () => {
  const title = 'new/idea'
  const write = client.transaction(async (tx) => {
    await tx.collection('albums').create({ id: 'firstalbum00001', owner: ann.id, title, cover: file('one') })
    await tx.collection('albums').create({ id: 'firstalbum00002', owner: ann.id, pages: [file('two'), file('three')] })
  })
  await write
  await client.sync()
  expect(await write.server).toEqual({ status: 'ok' })
  expect(await shown('firstalbum00001')).toMatchObject({ title, cover: expect.stringContaining('one_') })
  expect(await texts('firstalbum00002', (await shown('firstalbum00002'))['pages'])).toEqual(['two', 'three'])
  // Signing in again changes nothing of what is stored.
  await client.signIn.password('users', ann.email, USER_PASSWORD)
  expect(await shown('firstalbum00001')).toMatchObject({ title })
})
