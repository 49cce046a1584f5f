/**
 * Goal: `repair` makes a healthy database of those that a fault of an earlier version has broken, with what they acknowledged last and what
 * came after it. Method: golden files (make-golden-damaged.ts).
 */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { open, repair, type Database, type OpenOptions } from '../../src/index.ts'
import { stretchReally } from '../../../../tools/test/setup/stretching.ts'
import { DAMAGED_PASSWORD, damagedId, type DamagedNote } from './golden-damaged.ts'

stretchReally()

const golden = join(import.meta.dirname, '../golden')
const folder = mkdtempSync(join(tmpdir(), 'pannier-repair-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function repaired(file: string, options: Pick<OpenOptions, 'encryption'> = {}) {
  const path = join(folder, file)
  copyFileSync(join(golden, file), path)
  const before = digestOf(path)
  const seen: number[] = []
  const report = await repair(path, { to: `${path}.repaired`, onProgress: (done) => seen.push(done), ...options })
  expect(digestOf(path)).toBe(before)
  expect(seen.at(-1)).toBe(1)
  expect(seen.toSorted((a, b) => a - b)).toEqual(seen)
  const db: Database = await open(`${path}.repaired`, options)
  onTestFinished(() => db.close())
  expect(db.damage).toBeUndefined()
  expect((await db.check()).problems).toEqual([])
  return { db, report }
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Of `notes` what all shapes have. */
async function assertNotes(db: Database): Promise<void> {
  const notes = db.collection<DamagedNote>('notes')
  expect(await notes.get(damagedId(5))).toMatchObject({ n: 1005 })
  expect(await notes.get(damagedId(6))).toBeUndefined()
  const [deleted] = await notes.getRevisions(damagedId(6), 'all')
  expect(deleted).toMatchObject({ ok: { _deleted: true } })
  const photo = await notes.getAttachment(damagedId(7), 'photo')
  expect(await photo!.bytes()).toEqual(new Uint8Array(20_000).fill(7))
  expect(await notes.local.get('place')).toMatchObject({ at: 7 })
  expect((await notes.indexes()).map(({ name }) => name).toSorted()).toEqual(['n', 'words'])
  expect(await notes.find({ text: 'note 8' }).count()).toBe(1)
  expect(await notes.search('note').count()).toBeGreaterThan(590)
  await notes.insert({ _id: 'more', n: 1, text: '' })
}

test('documents whose numbers were given twice are all there', async () => {
  const { db, report } = await repaired('insert.damaged')
  await assertNotes(db)
  const notes = db.collection<DamagedNote>('notes')
  expect(await notes.get(['paid', 'next', 'after', 'warm'])).toMatchObject([
    { n: 2, text: 'paid' },
    { n: 3, text: 'next' },
    { n: 4, text: 'after' },
    { n: 1, text: 'warm' },
  ])
  expect(await db.collection('others').get('d')).toMatchObject({ v: 4 })
  expect(report.isComplete).toBe(true)
  expect(report.problems).toHaveLength(1)
  expect(report.collections).toMatchObject([
    { name: 'notes', documents: 603, tombstones: 1, fromLaterCommits: 2, documentsLost: 0, local: 1 },
    { name: 'others', documents: 4, fromLaterCommits: 1 },
  ])
})

test('edits of one document that knew nothing of one another are both kept', async () => {
  const { db } = await repaired('update.damaged')
  await assertNotes(db)
  const notes = db.collection<DamagedNote>('notes')
  const revisions = await notes.getRevisions('warm', 'all')
  const values = revisions.map((one) => ('ok' in one ? (one.ok as unknown as DamagedNote).n : one))
  expect(new Set(values)).toEqual(new Set([20, 40]))
  expect(await notes.get(damagedId(9))).toBeUndefined()
  expect(await db.collection('others').get('d')).toMatchObject({ v: 4 })
})

test('two collections that were given one number are two', async () => {
  const { db } = await repaired('collection.damaged')
  await assertNotes(db)
  expect(await db.collection('first').get('paid')).toMatchObject({ of: 'first' })
  expect(await db.collection('second').get('next')).toMatchObject({ of: 'second', other: 'shape' })
  expect(await db.collection('second').get('paid')).toBeUndefined()
  expect(await db.collection<DamagedNote>('notes').get('after')).toMatchObject({ n: 4 })
})

test('an encrypted one stays encrypted', async () => {
  const { db, report } = await repaired('encrypted.damaged', { encryption: { password: DAMAGED_PASSWORD } })
  await assertNotes(db)
  expect(await db.collection('notes').get(['paid', 'next'])).toMatchObject([{ n: 2 }, { n: 3 }])
  expect(report.isComplete).toBe(true)
  expect(db.encryption).toBeDefined()
})
