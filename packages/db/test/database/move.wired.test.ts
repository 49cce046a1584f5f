/** Goal: a database is moved whole or stays where it is, whoever writes meanwhile. */
import { expect, test } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { temporaryFiles } from '../key-value-stores.ts'
import { deviceKey, newDeviceKey } from '../storage/encrypted/fixture.ts'

const newPath = temporaryFiles()

test.each([
  ['memory to a file', memory(), sqlite()],
  ['a file to raw files', sqlite(), new RawFileStorage()],
  ['raw files to memory', new RawFileStorage(), memory()],
])('from %s', async (_what, source, target) => {
  const name = newPath()
  const db = await open(name, { storage: source, collections: { notes: { indexes: ['n'] } } })
  const notes = db.collection('notes')
  await notes.insert(Array.from({ length: 500 }, (_, n) => ({ _id: `n${n}`, n })))
  const done: number[] = []
  const moving = db.moveTo(target, { onProgress: (part) => done.push(part) })
  await notes.put({ _id: 'meanwhile', n: 1000 })
  await moving
  expect(done.at(-1)).toBe(1)
  await expect(notes.get('n1')).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  const moved = await open(name, { storage: target })
  expect(moved.storage).toBe(target.kind)
  expect(
    await moved
      .collection('notes')
      .find({ n: { $gte: 10 } })
      .count(),
  ).toBe(491)
  expect((await moved.check()).problems).toEqual([])
  await moved.destroy()
  const left = await open(name, { storage: source })
  expect(await left.collection('notes').find().count()).toBe(0)
  await left.destroy()
})

test('a database that cannot be moved stays, and keeps working', async () => {
  const [source, target] = [memory(), memory()]
  const other = await open('db', { storage: target })
  await other.collection('notes').insert({ _id: 'theirs' })
  const db = await open('db', { storage: source })
  await db.collection('notes').insert({ _id: 'ours' })
  await expect(db.moveTo(target)).rejects.toMatchObject({ code: 'PANNIER_EXISTS' })
  await expect(db.moveTo(memory(), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
  await expect(db.moveTo(source)).rejects.toThrow(TypeError)
  expect((await db.collection('notes').get('ours'))?._id).toBe('ours')
  await db.collection('notes').insert({ _id: 'more' })
  expect((await other.collection('notes').get('theirs'))?._id).toBe('theirs')
  await db.close()
  await other.close()
})

test('a copy that an earlier move has left is replaced, unless somebody has written to it', async () => {
  const [source, target] = [memory(), memory()]
  const refuses: DatabaseStorage = {
    ...bound(source),
    destroy: () => Promise.reject(new PannierError('PANNIER_IO_FAILED', 'no')),
  }
  const db = await open('db', { storage: refuses })
  await db.collection('notes').insert({ _id: 'ours' })
  await expect(db.moveTo(target)).rejects.toMatchObject({ code: 'PANNIER_IO_FAILED' })
  await db.collection('notes').insert({ _id: 'later' })
  await expect(db.moveTo(target)).rejects.toMatchObject({ code: 'PANNIER_IO_FAILED' })
  const copy = await open('db', { storage: target })
  expect((await copy.collection('notes').get('later'))?._id).toBe('later')
  await copy.collection('notes').insert({ _id: 'theirs' })
  await expect(db.moveTo(target)).rejects.toMatchObject({ code: 'PANNIER_EXISTS' })
  expect((await copy.collection('notes').get('theirs'))?._id).toBe('theirs')
  await copy.close()
  await db.close()
})

function bound(storage: DatabaseStorage): DatabaseStorage {
  const { kind, scope } = storage
  return {
    kind,
    scope,
    identify: (name) => storage.identify(name),
    has: (name) => storage.has(name),
    open: (name) => storage.open(name),
    destroy: (name) => storage.destroy(name),
  }
}

test('an encrypted database is moved encrypted, and only by who can open it; a plain one can be encrypted by moving it', async () => {
  const [source, target, last] = [memory(), new RawFileStorage(), memory()]
  const encryption = { key: deviceKey }
  const plain = await open('db', { storage: source })
  await plain.collection('notes').insert({ _id: 'ours' })
  await plain.moveTo(target, { encryption })
  await expect(open('db', { storage: target })).rejects.toMatchObject({ code: 'PANNIER_ENCRYPTED' })
  const db = await open('db', { storage: target, encryption })
  await expect(db.moveTo(last)).rejects.toMatchObject({ code: 'PANNIER_ENCRYPTED' })
  await expect(db.moveTo(last, { encryption: { key: await newDeviceKey() } })).rejects.toMatchObject({
    code: 'PANNIER_KEY_WRONG',
  })
  expect((await db.collection('notes').get('ours'))?._id).toBe('ours')
  await db.moveTo(last, { encryption })
  await expect(open('db', { storage: last })).rejects.toMatchObject({ code: 'PANNIER_ENCRYPTED' })
  const moved = await open('db', { storage: last, encryption })
  expect((await moved.collection('notes').get('ours'))?._id).toBe('ours')
  await moved.destroy()
})
