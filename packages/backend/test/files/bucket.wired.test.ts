/** Goal: with a bucket in the settings files are there, under PocketBase's keys, and nothing is there that no record names. */
import { systemEnvironment } from 'pannier/internal'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { recordsName } from '../../src/definitions/definition.ts'
import { S3Place } from '../../src/files/s3-place.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { contentOf, keyOf, openDrive, picture, ROOT, upload, type Drive } from './drive.ts'
import { S3Server } from './s3-server.ts'

let server: S3Server
let drive: Drive

beforeAll(async () => {
  server = await S3Server.start()
})
beforeEach(async () => {
  server.fault = undefined
  drive = await openDrive()
  await drive.useBucket(server.options)
})
afterEach(async () => {
  server.fault = undefined
  await drive.backend.files.settled()
  for (const key of await keys()) await new S3Place(server.options, systemEnvironment()).delete(key)
  await drive.close()
})
afterAll(() => server[Symbol.asyncDispose]())

async function keys(): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of new S3Place(server.options, systemEnvironment()).list('')) found.push(key)
  return found
}

const UNAVAILABLE = { code: 'UNAVAILABLE' }

test('new files are objects with the keys of PocketBase, and no attachments', async () => {
  const post = await drive.create({ cover: upload('one'), files: [upload('two'), upload('three')] })
  const names = [post['cover'], ...(post['files'] as string[])]
  expect(await keys()).toEqual(names.map((name) => keyOf(post, name)).sort())
  expect(await Promise.all(names.map((name) => drive.text(post, name)))).toEqual(['one', 'two', 'three'])
  const [stored] = await drive.database
    .collection<JsonObject>(recordsName(drive.backend.definitions.get('posts')))
    .find()
    .toArray()
  expect(stored!['_attachments']).toBe(undefined)
  const file = await drive.backend.files.open(ROOT, 'posts', String(post['id']), String(post['cover']))
  expect(file).toMatchObject({ size: 3, type: 'text/plain; charset=utf-8' })
  expect(await contentOf({ ...file, stream: () => file.stream({ start: 1, end: 3 }) })).toBe('ne')
})

test('replaced, removed and deleted files leave the bucket, with their thumbs', async () => {
  const post = await drive.create({ cover: await picture(), files: [upload('two'), upload('three')] })
  const thumb = await drive.thumb(post, post['cover'], '70x50')
  expect(thumb.name).toBe(`70x50_${String(post['cover'])}`)
  expect(await contentOf(await drive.thumb(post, post['cover'], '70x50'))).toBe(await contentOf(thumb))
  expect(await keys()).toContain(keyOf(post, `thumbs_${String(post['cover'])}/${thumb.name}`))
  const changed = await drive.update(post, { cover: upload('new'), 'files-': (post['files'] as string[])[0] })
  await drive.backend.files.settled()
  expect(await keys()).toEqual(
    [changed['cover'], ...(changed['files'] as string[])].map((name) => keyOf(post, name)).sort(),
  )
  await drive.create({ post: post['id'], image: upload('x') }, 'comments')
  expect((await keys()).length).toBe(3)
  await drive.delete(post)
  await drive.backend.files.settled()
  expect(await keys()).toEqual([])
  expect(await drive.kept()).toEqual([])
})

test('a write that is refused leaves nothing', async () => {
  await expect(drive.create({ title: 'far too long for it', cover: upload('one') })).rejects.toMatchObject({
    code: 'INVALID',
  })
  await expect(drive.create({ id: '../../x', cover: upload('one') })).rejects.toMatchObject({ code: 'INVALID' })
  await expect(drive.create({ files: [upload('x'.repeat(200_000))] })).rejects.toMatchObject({ code: 'INVALID' })
  const post = await drive.create({ cover: upload('one') })
  await expect(drive.update(post, { title: 'far too long for it', cover: upload('two') })).rejects.toMatchObject({
    code: 'INVALID',
  })
  await expect(drive.update({ ...post, id: 'missing00000000' }, { cover: upload('two') })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  await drive.backend.files.settled()
  expect(await keys()).toEqual([keyOf(post, post['cover'])])
})

test('a batch that is undone leaves nothing', async () => {
  const create = (input: JsonObject) => ({
    action: 'create' as const,
    collection: 'posts',
    input,
    request: ROOT.request,
  })
  const batch = (...inputs: JsonObject[]) =>
    drive.backend.records.batch(ROOT.principal, inputs.map(create), { workMsMax: 60_000 })
  await expect(
    batch({ cover: upload('one') }, { files: [upload('two')] }, { title: 'far too long for it' }),
  ).rejects.toMatchObject({ index: 2 })
  await drive.backend.files.settled()
  expect(await keys()).toEqual([])
  const [one, two] = await batch({ cover: upload('one') }, { files: [upload('two')] })
  await drive.backend.files.settled()
  expect(await drive.text(one!, one!['cover'])).toBe('one')
  expect(await drive.text(two!, (two!['files'] as string[])[0])).toBe('two')
})

test('a bucket that does not take a file refuses the write', async () => {
  server.fault = ({ method }, response) => {
    if (method !== 'PUT') return false
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>No.</Message></Error>')
    return true
  }
  await expect(drive.create({ cover: upload('one') })).rejects.toMatchObject(UNAVAILABLE)
  expect(drive.printed.map(({ message }) => message).join()).toContain('AccessDenied')
  server.fault = undefined
  expect((await drive.backend.records.list(ROOT, 'posts')).totalItems).toBe(0)
  expect(await drive.kept()).toEqual([])
})

test('what could not be deleted is deleted at the next start', async () => {
  const post = await drive.create({ cover: upload('one') })
  server.fault = ({ method }, response) => {
    if (method !== 'DELETE') return false
    response.writeHead(403).end()
    return true
  }
  await drive.delete(post)
  await drive.backend.files.settled()
  expect((await keys()).length).toBe(1)
  server.fault = undefined
  const again = await openDrive(drive.database)
  await again.backend.files.settled()
  expect(await keys()).toEqual([])
  await again.close()
})

test('files stay where they were put when the bucket comes and goes', async () => {
  await drive.useBucket(undefined)
  const local = await drive.create({ cover: await picture() })
  await drive.thumb(local, local['cover'], '70x50')
  await drive.useBucket(server.options)
  const remote = await drive.create({ cover: upload('there') })
  expect((await drive.thumb(local, local['cover'], '30x0')).name).toMatch(/^30x0_/)
  expect(await keys()).toEqual([keyOf(remote, remote['cover'])])
  await drive.useBucket(undefined)
  expect(await drive.text(remote, remote['cover'])).toBe(undefined)
  expect(await drive.text(local, local['cover'])).toContain('PNG')
  await drive.delete(remote)
  await drive.backend.files.settled()
  expect((await keys()).length).toBe(1)
  await drive.useBucket(server.options)
  const again = await openDrive(drive.database)
  await again.backend.files.settled()
  expect(await keys()).toEqual([])
  await again.close()
})

test('objects that PocketBase has put into the bucket are files of records, and go with them', async () => {
  const post = await drive.create({ title: 'one' })
  const records = drive.database.collection<JsonObject>(recordsName(drive.backend.definitions.get('posts')))
  const name = 'old_a1b2c3d4e5.txt'
  const place = new S3Place(server.options, systemEnvironment())
  await records.update(String(post['id']), (old) => ({ ...old, cover: name }))
  await place.put(keyOf(post, name), Buffer.from('from PocketBase'), 'text/plain')
  await place.put(keyOf(post, `thumbs_${name}/70x50_${name}`), Buffer.from('thumb'), 'image/png')
  expect(await drive.text(post, name)).toBe('from PocketBase')
  await drive.update(post, { title: 'two' })
  await drive.backend.files.settled()
  expect(await drive.text(post, name)).toBe('from PocketBase')
  await drive.update(post, { cover: '' })
  await drive.backend.files.settled()
  expect(await keys()).toEqual([])
})
