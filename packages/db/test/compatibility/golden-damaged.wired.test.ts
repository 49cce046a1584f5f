/**
 * Goal: a database whose log does not replay, as an earlier version has left them, opens read-only in its newest state that does, can be
 * exported, and stays as it is. Method: golden files (make-golden-damaged.ts), each shape on each kind of storage.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { isPannierError, open, type Database, type OpenOptions } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { stretchReally } from '../../../../tools/test/setup/stretching.ts'
import { DAMAGED_PASSWORD, damagedId, type DamagedNote } from './golden-damaged.ts'

stretchReally()

const golden = join(import.meta.dirname, '../golden')
const folder = mkdtempSync(join(tmpdir(), 'pannier-damaged-'))
afterAll(() => rmSync(folder, { recursive: true }))
let copies = 0

interface Shape {
  readonly file: string
  readonly options: OpenOptions
  /** What the forgotten read's transaction has written, and is there. */
  readonly saved: readonly [collection: string, id: string, document: object]
  /** Documents of `notes`. */
  readonly notes: number
}

const SHAPES: readonly Shape[] = [
  { file: 'insert.damaged', options: {}, saved: ['notes', 'paid', { n: 2, text: 'paid' }], notes: 601 },
  { file: 'update.damaged', options: {}, saved: ['notes', 'warm', { n: 20, text: 'warm' }], notes: 600 },
  { file: 'collection.damaged', options: {}, saved: ['first', 'paid', { of: 'first' }], notes: 600 },
  {
    file: 'encrypted.damaged',
    options: { encryption: { password: DAMAGED_PASSWORD } },
    saved: ['notes', 'paid', { n: 2, text: 'paid' }],
    notes: 601,
  },
]

function copyOf(file: string): string {
  const path = join(folder, `${++copies}-${file}`)
  copyFileSync(join(golden, file), path)
  return path
}

async function opened(path: string, options: OpenOptions): Promise<Database> {
  const db = await open(path, options)
  onTestFinished(() => db.close())
  return db
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: unknown) => (isPannierError(error) ? error.code : error),
  )
}

describe.each(SHAPES)('$file', ({ file, options, saved: [collection, id, document], notes: count }) => {
  test('opens read-only, and says so', async () => {
    const path = copyOf(file)
    const before = digestOf(path)
    const db = await open(path, options)
    expect(db.damage?.code).toBe('PANNIER_CORRUPT')
    expect((await db.check()).problems[0]).toEqual({
      code: 'LOG_DAMAGED',
      where: undefined,
      message: db.damage!.message,
    })
    const notes = db.collection<DamagedNote>('notes')
    const writes = [
      () => notes.insert({ _id: 'more', n: 1, text: '' }),
      () => notes.delete(damagedId(1)),
      () => notes.update(damagedId(1), (note) => ({ ...note, n: 0 })),
      () => notes.local.put({ _id: 'place', at: 8 }),
      () => notes.putAttachment(damagedId(1), 'a', new Uint8Array(3)),
      () => notes.dropIndex('n'),
      () => notes.compact(),
      () => db.transaction(async (tx) => tx.collection<DamagedNote>('notes').get('warm')),
      () => db.createCollection('new'),
      () => db.dropCollection('notes'),
      () => db.flush(),
      () => db.moveTo(memory(), options.encryption && { encryption: options.encryption }),
      () => db.collection('notes', { indexes: ['text'] }).ready(),
    ]
    for (const write of writes) expect(await codeOf(write())).toBe('PANNIER_CORRUPT')
    await db.close()
    expect(digestOf(path)).toBe(before)
  })

  test('reads what was committed before, in every way', async () => {
    const db = await opened(copyOf(file), options)
    expect(await db.collection(collection).get(id)).toMatchObject(document)
    const notes = db.collection<DamagedNote>('notes')
    expect(await notes.find().count()).toBe(count)
    expect(await notes.find({ n: { $gte: 0 } }).count()).toBe(count)
    expect(await notes.find({ text: 'note 8' }).toArray()).toMatchObject([{ _id: damagedId(8), n: 8 }])
    expect(await notes.search('note').count()).toBe(599)
    expect((await notes.changes({}).toArray()).length).toBe(count + 1)
    expect(await notes.local.get('place')).toMatchObject({ at: 7 })
    const photo = await notes.getAttachment(damagedId(7), 'photo')
    expect(new Uint8Array(await photo!.bytes())).toEqual(new Uint8Array(20_000).fill(7))
    const lines = (await new Response(notes.export()).text()).trim().split('\n')
    expect(lines.length).toBe(count)
    // A new index can't be built; the query does without.
    expect(
      await db
        .collection<DamagedNote>('notes', { indexes: ['text'] })
        .find({ text: 'note 8' })
        .count(),
    ).toBe(1)
  })

  test('its snapshot is a healthy database', async () => {
    const path = copyOf(file)
    const before = digestOf(path)
    const db = await open(path, options)
    const bytes = new Uint8Array(await new Response(db.snapshot()).arrayBuffer())
    await db.close()
    expect(digestOf(path)).toBe(before)
    const copy = await open('copy', { storage: memory(), from: bytes, ...options })
    onTestFinished(() => copy.close())
    expect(copy.damage).toBeUndefined()
    expect((await copy.check()).problems).toEqual([])
    expect(await copy.collection(collection).get(id)).toMatchObject(document)
    await copy.collection<DamagedNote>('notes').insert({ _id: 'more', n: 1, text: '' })
    expect(await copy.collection('notes').find().count()).toBe(count + 1)
  })
})
