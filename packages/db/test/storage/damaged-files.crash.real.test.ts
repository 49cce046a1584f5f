/**
 * Goal: a damaged SQLite file gives right data or a typed error, from every operation: no error of another kind, nothing that goes on for
 * ever, no wrong data, and no lock that stays. Method: seeded changes of bytes and of rows, plain and encrypted; each page left out in turn.
 * `npm run nightly` damages more of them.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isPannierError, open, type Database, type OpenOptions } from '../../src/index.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { newDeviceKey } from './encrypted/fixture.ts'
import { seedsOf, strideOf, timeoutOf } from '../../../../tools/test/seeds.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-damaged-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Note {
  readonly _id: string
  readonly n: number
  readonly text: string
}

/** In pages, and in the log only. */
const STORED = 400
const LOGGED = 12
const DEADLINE_MS = 20_000
const SQLITE_PAGE = 8192

const KINDS: readonly { readonly kind: string; readonly options: OpenOptions }[] = [
  { kind: 'plain', options: {} },
  { kind: 'encrypted', options: { encryption: { key: await newDeviceKey() } } },
]

const ALLOWED = new Set([
  'PANNIER_CORRUPT',
  'PANNIER_FORMAT_WRONG',
  'PANNIER_FORMAT_NEWER',
  // Without its keyring it is a database of the other kind.
  'PANNIER_ENCRYPTED',
  'PANNIER_NOT_ENCRYPTED',
  'PANNIER_KEY_WRONG',
])

function note(n: number): Note {
  return { _id: `note-${n}`.padEnd(40, '.'), n, text: `words of note ${n % 7} ${'x'.repeat(300)}` }
}

async function makeFile(path: string, options: OpenOptions): Promise<void> {
  const db = await open(path, options)
  const notes = db.collection<Note>('notes', { indexes: ['n', { on: 'text', text: true, name: 'words' }] })
  await notes.insert(Array.from({ length: STORED }, (_, n) => note(n)))
  await notes.putAttachment(note(3)._id, 'photo', new Uint8Array(70_000).fill(3))
  await notes.view('byText', VIEW).query()
  await notes.ready()
  await db.flush()
  for (let n = 0; n < LOGGED; n++) await notes.insert(note(STORED + n))
  await db.close()
}

const VIEW = {
  map: (doc: Note, emit: (key: unknown, value: unknown) => void) => emit(doc.n % 10, doc.n),
  reduce: '_sum',
  version: 1,
} as const

type Operation = (db: Database, documents: number) => Promise<readonly [got: unknown, right: unknown]>

/** Each compared with what it is to give for that many documents. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  async get(db) {
    const ids = [0, 100, 200, 399].map((n) => note(n)._id)
    const got = await db.collection<Note>('notes').get(ids)
    return [got.map((document) => document && document.n), [0, 100, 200, 399]]
  },
  async find(db, documents) {
    return [
      await db
        .collection<Note>('notes')
        .find({ n: { $gte: 100 } })
        .count(),
      documents - 100,
    ]
  },
  async documents(db, documents) {
    const found = await db
      .collection<Note>('notes')
      .find({ n: { $gte: 0 } })
      .sort('n')
      .toArray()
    return [found.map(({ _id, n, text }) => ({ _id, n, text })), Array.from({ length: documents }, (_, n) => note(n))]
  },
  async search(db, documents) {
    return [await db.collection<Note>('notes').search('words').count(), documents]
  },
  async changes(db, documents) {
    return [(await db.collection<Note>('notes').changes({}).toArray()).length, documents]
  },
  async view(db, documents) {
    const { rows } = await db.collection<Note>('notes').view('byText', VIEW).query()
    return [rows[0]?.value, (documents * (documents - 1)) / 2]
  },
  async newView(db, documents) {
    const { rows } = await db
      .collection<Note>('notes')
      .view('another', { ...VIEW, reduce: '_count' })
      .query()
    return [rows[0]?.value, documents]
  },
  async newIndex(db, documents) {
    const notes = db.collection<Note>('notes', { indexes: [['text', 'n']] })
    await notes.ready()
    return [await notes.find({ text: note(0).text }).count(), Math.ceil(documents / 7)]
  },
  async migration(db, documents) {
    const notes = db.collection('notes', { version: 2, migrations: { 2: (old) => ({ ...old, added: true }) } })
    return [await notes.find({ n: { $gte: 0 } }).count(), documents]
  },
  async attachment(db) {
    const photo = await db.collection<Note>('notes').getAttachment(note(3)._id, 'photo')
    return [(await photo?.bytes())?.every((byte) => byte === 3), true]
  },
  async snapshot(db) {
    return [(await new Response(db.snapshot()).arrayBuffer()).byteLength > 0, true]
  },
  async write(db) {
    await db.collection<Note>('notes').upsert({ ...note(7), n: 7 })
    await db.flush()
    return [true, true]
  },
}

async function outcomeOf<T>(work: () => Promise<T>): Promise<{ value: T } | { code: string }> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS)
  })
  try {
    return { value: await Promise.race([work(), late]) }
  } catch (error) {
    if (isPannierError(error) && ALLOWED.has(error.code)) return { code: error.code }
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Codes of what failed; empty if all was right. `isExact`: the log can't end earlier unnoticed. */
async function examine(path: string, options: OpenOptions, isExact: boolean, wanted = OPERATIONS): Promise<string[]> {
  const opened = await outcomeOf(() => open(path, options))
  if ('code' in opened) return [opened.code]
  const db = opened.value
  const codes: string[] = []
  try {
    const count = await outcomeOf(() => db.collection<Note>('notes').find().count())
    if ('code' in count) codes.push(count.code)
    const documents = 'value' in count ? count.value : STORED + LOGGED
    if (db.damage !== undefined) codes.push(db.damage.code)
    else if (isExact) expect(documents).toBe(STORED + LOGGED)
    expect(documents).toBeGreaterThanOrEqual(STORED)
    const problems = await outcomeOf(() => db.check())
    if ('code' in problems || !problems.value.ok) codes.push('PANNIER_CORRUPT')
    for (const [name, operation] of Object.entries(wanted)) {
      const result = await outcomeOf(() => operation(db, documents))
      if ('code' in result) codes.push(result.code)
      else expect(result.value[0], name).toEqual(result.value[1])
    }
  } finally {
    await outcomeOf(() => db.close())
  }
  return codes
}

const BYTES: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  flip(bytes, random) {
    for (let flips = 1 + random.below(3); flips > 0; flips--) bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
    return bytes
  },
  /** The schema, the roots of the tables, the rows of `meta`. */
  flipEarly(bytes, random) {
    bytes[random.below(5 * SQLITE_PAGE)]! ^= 1 << random.below(8)
    return bytes
  },
  zero(bytes, random) {
    const at = 512 * random.below(bytes.length / 512)
    return bytes.fill(0, at, at + 512)
  },
  truncate: (bytes, random) => bytes.subarray(0, 1 + random.below(bytes.length - 1)),
  transplant(bytes, random) {
    const pages = bytes.length / SQLITE_PAGE
    const from = SQLITE_PAGE * random.below(pages)
    bytes.copy(bytes, SQLITE_PAGE * random.below(pages), from, from + SQLITE_PAGE)
    return bytes
  },
}

const STATEMENTS = [
  'DELETE FROM meta',
  'DELETE FROM meta WHERE id = 1',
  'UPDATE meta SET bytes = NULL',
  "UPDATE meta SET bytes = 'text'",
  "UPDATE meta SET generation = 'x'",
  'UPDATE meta SET generation = NULL',
  'UPDATE meta SET generation = 9223372036854775807',
  'UPDATE meta SET generation = generation + 1',
  'UPDATE meta SET sequence = 1.5',
  'DROP TABLE meta',
  'DROP TABLE log',
  'DROP TABLE pages',
  'ALTER TABLE pages RENAME COLUMN bytes TO data',
  'DELETE FROM pages',
  "UPDATE pages SET bytes = 'text'",
  'UPDATE pages SET bytes = NULL WHERE id % 3 = 0',
  'DELETE FROM log WHERE sequence = (SELECT max(sequence) - 3 FROM log WHERE sequence < 1000000)',
  "UPDATE log SET bytes = 'text'",
  'UPDATE log SET bytes = NULL WHERE sequence % 2 = 0',
  'UPDATE log SET bytes = zeroblob(100) WHERE sequence = (SELECT max(sequence) - 2 FROM log WHERE sequence < 1000000)',
  'UPDATE log SET sequence = sequence + 100000 WHERE sequence = (SELECT max(sequence) - 2 FROM log WHERE sequence < 1000000)',
  'INSERT INTO log VALUES (9223372036854775807, NULL)',
]

describe.each(KINDS)('$kind', ({ kind, options }) => {
  const original = join(folder, `${kind}.pannier`)
  const isExact = kind === 'encrypted'
  let copies = 0
  const copy = (): string => {
    const path = join(folder, `${kind}-${++copies}.pannier`)
    copyFileSync(original, path)
    return path
  }
  beforeAll(() => makeFile(original, options))

  test('an undamaged file is right', async () => {
    expect(await examine(copy(), options, isExact)).toEqual([])
  })

  test.each(STATEMENTS)('%s', async (sql) => {
    const path = copy()
    const file = new DatabaseSync(path)
    file.exec(sql)
    file.close()
    await examine(path, options, isExact)
    // Nothing has kept the file.
    expect(await examine(path, options, isExact)).not.toContain('PANNIER_LOCKED')
  })

  test('pages left out in turn', { timeout: timeoutOf(300_000) }, async () => {
    const file = new DatabaseSync(original)
    const ids = file
      .prepare('SELECT id FROM pages')
      .all()
      .map(({ id }) => id as number)
      .filter((_, at) => at % strideOf(11) === 0)
    file.close()
    for (const id of ids) {
      const path = copy()
      const changed = new DatabaseSync(path)
      changed.exec(`DELETE FROM pages WHERE id = ${id}`)
      changed.close()
      expect(await examine(path, options, isExact), `page ${id}`).toContain('PANNIER_CORRUPT')
    }
  })

  test.each(Object.keys(BYTES))('bytes: %s', { timeout: 3_600_000 }, async (name) => {
    const bytes = readFileSync(original)
    let failures = 0
    for (const seed of seedsOf('crash')) {
      const path = copy()
      writeFileSync(path, BYTES[name]!(Buffer.from(bytes), seededRandom(seed)))
      const context = `SEED=${seed} ${name}`
      try {
        const codes = await examine(path, options, isExact)
        await examine(path, options, isExact, {})
        if (codes.length > 0) failures++
      } catch (error) {
        throw new Error(`${context}: ${String(error)}`, { cause: error })
      }
      rmSync(path)
    }
    expect(failures).toBeGreaterThan(0)
  })
})
