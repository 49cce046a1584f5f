/**
 * Goal: whatever page or log record is damaged, `repair` makes a sound database of the rest, says what is not in it, and invents nothing.
 * Method: each page left out or changed in turn, on plain and encrypted files.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { destroy, open, repair, type OpenOptions, type RepairReport } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { newDeviceKey } from '../storage/encrypted/fixture.ts'
import { strideOf, timeoutOf } from '../../../../tools/test/seeds.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-repair-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Note {
  readonly _id: string
  readonly n: number
  readonly text: string
}

const STORED = 300
const LOGGED = 5
const PHOTO: Uint8Array<ArrayBuffer> = new Uint8Array(300_000).map((_, at) => at % 251)

function note(n: number): Note {
  return { _id: `note-${n}`.padEnd(40, '.'), n, text: 'x'.repeat(400) }
}

async function makeFile(path: string, options: OpenOptions): Promise<void> {
  const db = await open(path, options)
  const notes = db.collection<Note>('notes', {
    indexes: ['n', { on: 'n', unique: true, name: 'once' }],
    revisionsLimit: 50,
  })
  await notes.insert(Array.from({ length: STORED }, (_, n) => note(n)))
  for (let n = 0; n < 20; n++) await notes.update(note(n)._id, (old) => ({ ...old, text: 'changed' }))
  await notes.delete([note(30)._id, note(31)._id])
  await notes.put({ ...note(40), _rev: '1-conflict', text: 'other' }, { newEdits: false })
  await notes.putAttachment(note(3)._id, 'photo', PHOTO)
  await notes.local.put({ _id: 'place', at: 3 })
  await notes.local.put({ _id: 'checkpoint', session_id: 'x', source_last_seq: 3 })
  await db.flush()
  for (let n = 0; n < LOGGED; n++) await notes.insert(note(STORED + n))
  await db.close()
}

const IDS = Array.from({ length: STORED + LOGGED }, (_, n) => note(n)._id).filter(
  (id) => id !== note(30)._id && id !== note(31)._id,
)

async function examine(path: string, options: Pick<OpenOptions, 'encryption'>): Promise<RepairReport> {
  const to = `${path}.repaired`
  const report = await repair(path, { to, ...options })
  const db = await open(to, options)
  try {
    expect((await db.check()).problems).toEqual([])
    const notes = db.collection<Note>('notes')
    const [told] = report.collections
    const ids = new Set<string>()
    for await (const { _id, n, text } of notes.find()) {
      ids.add(_id)
      expect(_id).toBe(note(n)._id)
      expect(n < 20 ? ['changed'] : n === 40 ? [note(n).text, 'other'] : [note(n).text]).toContain(text)
    }
    expect(told!.documents).toBe(ids.size)
    // Each is there, or named, or, where the ids are lost too, counted.
    const missing = IDS.filter((id) => !ids.has(id))
    expect(told!.documentsLost).toBeGreaterThanOrEqual(missing.length)
    if (!report.problems.some((problem) => problem.message.includes('/ids')))
      expect(told!.idsLost).toEqual(expect.arrayContaining(missing))
    expect(report.isComplete).toBe(
      told!.documentsLost + told!.revisionsLost.length + told!.attachmentsLost.length + told!.indexesLost.length === 0,
    )
    if (ids.has(note(3)._id) && told!.attachmentsLost.length === 0) {
      const photo = await notes.getAttachment(note(3)._id, 'photo')
      expect(await photo!.bytes()).toEqual(PHOTO)
    }
    expect((await notes.indexes()).map(({ name }) => name).toSorted()).toEqual(['n', 'once'])
    await notes.insert({ _id: 'more', n: -1, text: '' })
  } finally {
    await db.close()
    await destroy(to)
  }
  return report
}

describe.each([
  { kind: 'plain', options: async () => ({}) },
  { kind: 'encrypted', options: async () => ({ encryption: { key: await newDeviceKey() } }) },
])('$kind', ({ kind, options: makeOptions }) => {
  const original = join(folder, kind)
  let options: Pick<OpenOptions, 'encryption'>
  let pages: number[]
  let copies = 0
  const changed = (sql: string): string => {
    const path = `${original}-${++copies}`
    copyFileSync(original, path)
    const file = new DatabaseSync(path)
    file.exec(sql)
    file.close()
    return path
  }
  beforeAll(async () => {
    options = await makeOptions()
    await makeFile(original, options)
    const file = new DatabaseSync(original)
    pages = file
      .prepare('SELECT id FROM pages')
      .all()
      .map(({ id }) => id as number)
    file.close()
  })

  test('of a healthy one all is saved', async () => {
    const report = await examine(changed(''), options)
    expect(report).toMatchObject({ isComplete: true, problems: [], commitsLost: 0 })
    expect(report.collections).toMatchObject([{ documents: IDS.length, tombstones: 2, local: 1, documentsLost: 0 }])
  })

  test('pages left out in turn', { timeout: timeoutOf(300_000) }, async () => {
    let incomplete = 0
    // Encryption makes each opening dearer, and changes nothing of what is read.
    for (const id of pages.filter((_, at) => at % strideOf(kind === 'plain' ? 9 : 11) === 0)) {
      const report = await examine(changed(`DELETE FROM pages WHERE id = ${id}`), options)
      if (!report.isComplete) incomplete++
    }
    expect(incomplete).toBeGreaterThan(0)
  })

  test('each second page zeroed', { timeout: timeoutOf(300_000) }, async () => {
    await examine(changed('UPDATE pages SET bytes = zeroblob(length(bytes)) WHERE id % 2 = 0'), options)
    await examine(changed('UPDATE pages SET bytes = zeroblob(length(bytes)) WHERE id % 2 = 1'), options)
    const report = await examine(changed('DELETE FROM pages'), options)
    expect(report.collections).toMatchObject([{ documents: LOGGED }])
  })
})

test('documents behind a damaged log record are saved, and those in it counted', async () => {
  const path = join(folder, 'log')
  await makeFile(path, {})
  const file = new DatabaseSync(path)
  const newest = file.prepare('SELECT max(sequence) AS newest FROM log').get()!['newest'] as number
  file.exec(`UPDATE log SET bytes = zeroblob(200) WHERE sequence = ${newest - 2}`)
  file.close()
  const report = await repair(path, { to: `${path}.repaired` })
  expect(report).toMatchObject({ isComplete: false, commitsLost: 1 })
  const db = await open(`${path}.repaired`)
  const found = await db.collection<Note>('notes').get(Array.from({ length: LOGGED }, (_, n) => note(STORED + n)._id))
  expect(found.map((document) => document?.n)).toEqual([300, 301, undefined, 303, 304])
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

/** Of an encrypted file the last row of the log is the log seal. */
const IS_RECORD: string = `sequence < ${Number.MAX_SAFE_INTEGER}`

describe('the log of an encrypted one', () => {
  const original = join(folder, 'sealed-log')
  let options: Pick<OpenOptions, 'encryption'>
  let newest: number
  let copies = 0
  beforeAll(async () => {
    options = { encryption: { key: await newDeviceKey() } }
    await makeFile(original, options)
    const file = new DatabaseSync(original)
    newest = file.prepare(`SELECT max(sequence) AS newest FROM log WHERE ${IS_RECORD}`).get()!['newest'] as number
    file.close()
  })

  const MISSING = /log records are missing/
  const END = /does not end where it should/
  // A record names the one before it, so one whose beginning is gone takes the next one with it.
  test.each([
    ['the content of a record', [300, 301, undefined, 303, 304], 1, [], flipLast],
    ['the beginning of a record', [300, 301, undefined, undefined, 304], 2, [], zero],
    ['a record that is missing', [300, 301, undefined, undefined, 304], 1, [MISSING], leaveOut],
    ['the end of the log', [300, 301, undefined, undefined, undefined], 0, [END], cutOff],
    ['all of it', [undefined, undefined, undefined, undefined, undefined], 5, [END], zeroAll],
  ])('%s', async (_, expected, commitsLost, notes, damage) => {
    const path = `${original}-${++copies}`
    copyFileSync(original, path)
    const file = new DatabaseSync(path)
    damage(file, newest - 2)
    file.close()
    await expect(open(path, options)).rejects.toHaveProperty('code', 'PANNIER_CORRUPT')
    const report = await repair(path, { to: `${path}.repaired`, ...options })
    expect(report).toMatchObject({ isComplete: false, commitsLost })
    for (const note of notes)
      expect(report.problems.map(({ message }) => message)).toContainEqual(expect.stringMatching(note))
    const db = await open(`${path}.repaired`, options)
    const ids = Array.from({ length: LOGGED }, (_one, n) => note(STORED + n)._id)
    const found = await db.collection<Note>('notes').get(ids)
    expect(found.map((document) => document?.n)).toEqual(expected)
    expect(await db.collection('notes').find().count()).toBe(IDS.length - LOGGED + found.filter(Boolean).length)
    expect((await db.check()).problems).toEqual([])
    await db.close()
  })

  test('another key is refused', async () => {
    const wrong = { encryption: { key: await newDeviceKey() } }
    await expect(repair(original, { to: `${original}.no`, ...wrong })).rejects.toHaveProperty(
      'code',
      'PANNIER_KEY_WRONG',
    )
    await expect(repair(original, { to: `${original}.no` })).rejects.toHaveProperty('code', 'PANNIER_ENCRYPTED')
    expect(existsSync(`${original}.no`)).toBe(false)
  })
})

function flipLast(file: DatabaseSync, sequence: number): void {
  const { bytes } = file.prepare('SELECT bytes FROM log WHERE sequence = ?').get(sequence) as { bytes: Uint8Array }
  const changed = bytes.slice()
  changed[changed.length - 1]! ^= 1
  file.prepare('UPDATE log SET bytes = ? WHERE sequence = ?').run(changed, sequence)
}

function zero(file: DatabaseSync, sequence: number): void {
  file.exec(`UPDATE log SET bytes = zeroblob(200) WHERE sequence = ${sequence}`)
}

function leaveOut(file: DatabaseSync, sequence: number): void {
  file.exec(`DELETE FROM log WHERE sequence = ${sequence}`)
}

function cutOff(file: DatabaseSync, sequence: number): void {
  file.exec(`DELETE FROM log WHERE sequence >= ${sequence} AND ${IS_RECORD}`)
}

function zeroAll(file: DatabaseSync): void {
  file.exec(`UPDATE log SET bytes = zeroblob(200) WHERE ${IS_RECORD}`)
}

test('refuses what it can not do, and leaves nothing then', async () => {
  const storage = memory()
  const db = await open('there', { storage })
  await db.collection('c').insert({ _id: 'a' })
  await db.close()
  await expect(repair('there', { to: 'there', storage })).rejects.toThrow(TypeError)
  await expect(repair('nothing', { to: 'new', storage })).rejects.toHaveProperty('code', 'PANNIER_NOT_FOUND')
  const other = await open('other', { storage })
  await other.collection('c').insert({ _id: 'b' })
  await other.close()
  await expect(repair('there', { to: 'other', storage })).rejects.toHaveProperty('code', 'PANNIER_EXISTS')
  const path = join(folder, 'aborted')
  await makeFile(path, {})
  const controller = new AbortController()
  const aborted = repair(path, {
    to: `${path}.repaired`,
    signal: controller.signal,
    onProgress: () => controller.abort(),
  })
  await expect(aborted).rejects.toHaveProperty('code', 'PANNIER_ABORTED')
  expect(existsSync(`${path}.repaired`)).toBe(false)
  const report = await repair('there', { to: 'copy', storage })
  expect(report.collections).toMatchObject([{ name: 'c', documents: 1 }])
})

test('what was not migrated yet is still to be migrated, and nothing else', async () => {
  const storage = memory()
  const first = await open('old', { storage })
  await first
    .collection('c')
    .insert(Array.from({ length: 1200 }, (_, n) => ({ _id: `d${String(n).padStart(4, '0')}`, n })))
  await first.close()
  const runs = new Map<string, number>()
  const migrations = {
    2: (document: { _id: string; v?: number }) => {
      runs.set(document._id, (runs.get(document._id) ?? 0) + 1)
      return { ...document, v: (document.v ?? 1) + 1 }
    },
  }
  const controller = new AbortController()
  const second = await open('old', { storage })
  const migrating = second.collection('c', {
    version: 2,
    migrations,
    signal: controller.signal,
    onProgress: () => controller.abort(),
  })
  await migrating.ready().catch(() => {})
  await second.close()
  expect(runs.size).toBeLessThan(1200)
  await repair('old', { to: 'new', storage })
  const third = await open('new', { storage })
  const collection = third.collection<{ _id: string; n: number; v: number }>('c', { version: 2, migrations })
  await collection.ready()
  const documents = await collection.find().toArray()
  expect(documents.length).toBe(1200)
  expect(documents.every(({ v }) => v === 2)).toBe(true)
  await third.close()
})
