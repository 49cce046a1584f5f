/** Goal: content of files is where its record is, goes with it, and thumbs are made once and go with their original. */
import { recordsName } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { contentOf, keyOf, openDrive, picture, ROOT, upload, type Drive } from './drive.ts'

let drive: Drive
beforeEach(async () => {
  drive = await openDrive()
})
afterEach(() => drive.close())

test('files that are replaced, removed or deleted with their record are gone', async () => {
  const post = await drive.create({ cover: upload('one'), files: [upload('two'), upload('three', 'b.txt')] })
  const [two, three] = post['files'] as string[]
  expect(await drive.text(post, post['cover'])).toBe('one')
  const changed = await drive.update(post, { cover: upload('new'), 'files-': two, '+files': upload('first', 'c.txt') })
  expect(await drive.text(post, post['cover'])).toBe(undefined)
  expect(await drive.text(post, two)).toBe(undefined)
  const kept = changed['files'] as string[]
  expect(await Promise.all([changed['cover'], ...kept].map((name) => drive.text(post, name)))).toEqual([
    'new',
    'first',
    'three',
  ])
  expect(kept[1]).toBe(three)
  const comment = await drive.create({ post: post['id'], image: upload('image') }, 'comments')
  await drive.delete(post)
  expect(await drive.text(comment, comment['image'])).toBe(undefined)
  expect((await drive.database.check()).problems).toEqual([])
})

test('a thumb is made once, also for requests at the same time, and is kept', async () => {
  const post = await drive.create({ cover: await picture() })
  const asked = await Promise.all(Array.from({ length: 8 }, () => drive.thumb(post, post['cover'], '70x50')))
  expect(new Set(asked.map(({ name }) => name))).toEqual(new Set([`70x50_${String(post['cover'])}`]))
  const contents = await Promise.all(asked.map(contentOf))
  expect(new Set(contents).size).toBe(1)
  const key = keyOf(post, `thumbs_${String(post['cover'])}/70x50_${String(post['cover'])}`)
  expect(await drive.kept()).toEqual([key])
  const { _rev: rev } = (await drive.database.collection<JsonObject>('$files').get(`/${key}`))!
  const again = await drive.thumb(post, post['cover'], '70x50')
  expect(await contentOf(again)).toBe(contents[0])
  expect((await drive.database.collection<JsonObject>('$files').get(`/${key}`))!._rev).toBe(rev)
})

test('thumbs go with their original: replaced, deleted, and in a cascade', async () => {
  const post = await drive.create({ cover: await picture() })
  const comment = await drive.create({ post: post['id'], image: await picture() }, 'comments')
  await drive.thumb(post, post['cover'], '70x50')
  await drive.thumb(comment, comment['image'], '100x100')
  expect((await drive.kept()).length).toBe(2)
  const changed = await drive.update(post, { cover: await picture(50, 50) })
  expect((await drive.kept()).length).toBe(1)
  await drive.thumb(changed, changed['cover'], '30x0')
  await drive.update(changed, { title: 'other' })
  expect((await drive.kept()).length).toBe(2)
  await drive.delete(post)
  expect(await drive.kept()).toEqual([])
})

test('thumbs go with a collection, and with all its records', async () => {
  const { definitions } = drive.backend
  for (const end of ['truncate', 'delete'] as const) {
    const post = await drive.create({ cover: await picture() })
    await drive.thumb(post, post['cover'], '70x50')
    expect((await drive.kept()).length).toBe(1)
    if (end === 'truncate') await definitions.truncate(ROOT.principal, 'posts')
    else {
      await definitions.delete(ROOT.principal, 'comments')
      await definitions.delete(ROOT.principal, 'posts')
    }
    expect([end, await drive.kept()]).toEqual([end, []])
  }
})

test('content that is replaced under its name gets another thumb', async () => {
  const post = await drive.create({ cover: await picture() })
  const first = await contentOf(await drive.thumb(post, post['cover'], '30x0'))
  const other = await picture(100, 300)
  const records = drive.database.collection<JsonObject>(recordsName(drive.backend.definitions.get('posts')))
  await records.putAttachment(String(post['id']), String(post['cover']), other.stream(), { contentType: 'image/png' })
  const second = await contentOf(await drive.thumb(post, post['cover'], '30x0'))
  expect(second).not.toBe(first)
  expect((await drive.kept()).length).toBe(1)
})

test('what can not become a thumb is served as it is, and is tried once', async () => {
  const bomb = await picture(9000, 9000)
  const broken = upload(Buffer.from('\x89PNG\r\n\x1a\nbroken', 'latin1'), 'b.png')
  for (const cover of [bomb, broken]) {
    const post = await drive.create({ cover })
    for (let round = 0; round < 2; round++)
      expect((await drive.thumb(post, post['cover'], '70x50')).name).toBe(post['cover'])
  }
  expect(drive.printed.filter(({ message }) => message.startsWith('There is no thumb')).length).toBe(2)
  expect(await drive.kept()).toEqual([])
})

test('a thumb that would have too many pixels is the original', async () => {
  const post = await drive.create({ cover: await picture(20_000, 1) })
  const { definitions } = drive.backend
  const { fields } = definitions.get('posts')
  const changed = fields.map((field) => (field.type === 'file' ? { ...field, thumbs: ['0x9999'] } : field))
  await definitions.update(ROOT.principal, 'posts', { fields: changed })
  expect((await drive.thumb(post, post['cover'], '0x9999')).name).toBe(post['cover'])
})

test('content that is said to be a picture is looked at first', async () => {
  const post = await drive.create({ cover: upload('<svg xmlns="http://www.w3.org/2000/svg"/>', 'x.svg') })
  const records = drive.database.collection<JsonObject>(recordsName(drive.backend.definitions.get('posts')))
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>')
  await records.putAttachment(String(post['id']), String(post['cover']), svg, { contentType: 'image/png' })
  expect((await drive.thumb(post, post['cover'], '70x50')).name).toBe(post['cover'])
})

test('a field that is removed takes its files along', async () => {
  const post = await drive.create({ cover: await picture(), files: [upload('stays')] })
  await drive.thumb(post, post['cover'], '70x50')
  const { definitions } = drive.backend
  const fields = definitions.get('posts').fields.filter(({ name }) => name !== 'cover')
  await definitions.update(ROOT.principal, 'posts', { fields })
  expect(await drive.text(post, post['cover'])).toBe(undefined)
  expect(await drive.text(post, (post['files'] as string[])[0])).toBe('stays')
  expect(await drive.kept()).toEqual([])
  const [stored] = await drive.database
    .collection<JsonObject>(recordsName(definitions.get('posts')))
    .find()
    .toArray()
  expect(Object.keys(stored!['_attachments'] as object)).toEqual(post['files'])
})

test('a crash that left a thumb of nothing is put right at the next start', async () => {
  const post = await drive.create({ cover: await picture() })
  await drive.thumb(post, post['cover'], '70x50')
  expect((await drive.kept()).length).toBe(1)
  await drive.backend.close()
  await drive.database.collection(recordsName(drive.backend.definitions.get('posts'))).delete(String(post['id']))
  const later = await openDrive(drive.database)
  expect(await later.kept()).toEqual([])
  await later.close()
})

test('a view serves no file of a field that has a rule, but to superusers', async () => {
  const { definitions, files } = drive.backend
  const { fields } = definitions.find('posts')!
  const ruled = fields.map((field) => (field.name === 'cover' ? { ...field, viewRule: 'title = "never"' } : field))
  await definitions.update(SYSTEM, 'posts', { fields: ruled, viewRule: '' })
  await definitions.create(SYSTEM, {
    name: 'covers',
    type: 'view',
    viewRule: '',
    viewQuery: 'SELECT id, cover AS picture, files FROM posts',
  })
  const post = await drive.create({ cover: upload('a cover', 'a.txt'), files: [upload('a file', 'b.txt')] })
  const guest = { ...ROOT, principal: GUEST }
  const id = String(post['id'])
  const cover = String(post['cover'])
  await expect(files.open(guest, 'posts', id, cover)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(files.open(guest, 'covers', id, cover)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const [open] = post['files'] as string[]
  expect((await files.open(guest, 'covers', id, open!)).name).toBe(open)
})
