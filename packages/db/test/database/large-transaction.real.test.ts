/**
 * Goal: of a transaction that is too large for the log nothing is lost when a later step of it fails, or has to be repeated because a
 * page is missing; and whoever listens hears of it.
 */
import { expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { LOG_BYTES_MAX } from '../../src/kv/limits.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'

const BIG = { _id: 'big', text: 'x'.repeat(2 * LOG_BYTES_MAX) }

test('a write that fails beside a large one', async () => {
  const db = await open('notes', { storage: await storageWith('here') })
  const notes = db.collection('notes')
  const [large, small] = await Promise.allSettled([notes.insert(BIG), notes.insert({ _id: 'here' })])
  expect([large.status, small.status]).toEqual(['fulfilled', 'rejected'])
  expect(await notes.get('big')).toMatchObject(BIG)
  await db.close()
})

test('inside a transaction: a write that fails after a large one', async () => {
  const db = await open('notes', { storage: await storageWith('here') })
  await db.transaction(async (tx) => {
    const notes = tx.collection('notes')
    await notes.insert(BIG)
    await expect(notes.insert({ _id: 'here' })).rejects.toMatchObject({ code: 'PANNIER_CONFLICT' })
  })
  expect(await db.collection('notes').get('big')).toMatchObject(BIG)
  await db.close()
})

test('inside a transaction: a read that has to fetch pages after a large write', async () => {
  const db = await open('notes', { storage: await storageWith('here') })
  await db.transaction(async (tx) => {
    const notes = tx.collection('notes')
    await notes.put(BIG)
    await tx.collection('others').get('here')
  })
  expect(await db.collection('notes').get('big')).toMatchObject(BIG)
  await db.close()
})

test('listeners hear of all collections, also of those before a read that has to fetch pages', async () => {
  const db = await open('notes', { storage: await storageWith('here') })
  const heard: string[][] = []
  db.subscribe(({ collections }) => void heard.push([...collections.keys()].sort()))
  await db.transaction(async (tx) => {
    await tx.collection('notes').put(BIG)
    await tx.collection('others').get('here')
    await tx.collection('others').insert({ _id: 'there' })
  })
  await expect.poll(() => heard).toEqual([['notes', 'others']])
  await db.close()
})

/** With documents in pages, so that whoever opens it has to fetch them. */
async function storageWith(_id: string): Promise<DatabaseStorage> {
  const storage = memory()
  const db = await open('notes', { storage })
  await db.collection('notes').insert({ _id })
  await db.collection('others').insert({ _id })
  await db.flush()
  await db.close()
  return storage
}
