/**
 * Conformance of snapshot files on every storage: a copy, in any storage, holds what the database held at one moment. A
 * damaged, truncated or foreign file never opens as a database.
 */
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { assertEqual, assertRejects, assertTrue } from '../check.ts'
import { seededRandom } from '../random.ts'
import type { SuiteContext } from '../suite.ts'

/** A storage, and a name of which nothing exists there. */
export interface SnapshotFixture {
  readonly storage: DatabaseStorage
  readonly name: string
}

/** `create` gives another name each time. */
export function snapshotSuite({ test, create }: SuiteContext<() => SnapshotFixture>): void {
  const check: Case = (name, body) =>
    test(name, async () => {
      const opened: Database[] = []
      const keep: Keep = (db) => {
        opened.push(db)
        return db
      }
      try {
        await body(create, keep)
      } finally {
        for (const db of opened) await db.close()
      }
    })
  roundTripCases(check)
  handleCases(check)
  damageCases(check)
  existingCases(check)
  cancelCases(check)
}

/** Databases that are kept are closed when the case ends. */
type Keep = (db: Database) => Database
type Case = (name: string, body: (create: () => SnapshotFixture, keep: Keep) => Promise<void>) => void

interface Item {
  readonly n: number
  readonly text: string
}

function roundTripCases(check: Case): void {
  check('a copy holds what the database held, and is a database of its own', async (create, keep) => {
    const { storage, name } = create()
    const db = keep(await filled(storage, name, 3000))
    const items = db.collection<Item>('items')
    await items.delete(['item-5', 'item-700'])
    await items.update('item-9', (item) => ({ ...item, n: -1 }))
    const done: number[] = []
    const file = await bytesOf(db.snapshot({ onProgress: (part) => done.push(part) }))
    assertProgress(done)
    for (const target of [{ storage: memory(), name: 'copy' }, create()]) {
      const restored: number[] = []
      const onProgress = (part: number): void => void restored.push(part)
      const copy = keep(await open(target.name, { storage: target.storage, from: streamOf(file, 10_000), onProgress }))
      assertProgress(restored)
      assertEqual(await contentOf(copy), await contentOf(db))
      assertEqual((await copy.check()).problems, [])
      assertEqual(
        (await copy.collection('items').indexes()).map(({ ready }) => ready),
        [true],
      )
      const written = await copy.collection<Item>('items').update('item-9', (item) => ({ ...item, n: -2 }))
      assertEqual(written.rev.slice(0, 2), '3-')
      await copy.collection('items').insert({ _id: 'item-5', n: 5, text: 'again' })
      await copy.flush()
      assertEqual((await copy.check()).problems, [])
    }
    assertEqual((await items.get('item-9'))?.n, -1)
  })

  check('an empty database', async (create, keep) => {
    const { storage, name } = create()
    const db = keep(await open(name, { storage }))
    const file = await bytesOf(db.snapshot())
    const copy = keep(await open('copy', { storage: memory(), from: file }))
    assertEqual(await copy.collections(), [])
    await copy.collection('items').insert({ _id: 'a' })
    assertEqual((await copy.check()).problems, [])
  })

  check('large documents, many collections, and a copy of a copy', async (create, keep) => {
    const { storage, name } = create()
    const db = keep(await open(name, { storage }))
    for (let n = 0; n < 5; n++) {
      const text = `text ${n} `.repeat(50_000)
      await db
        .collection(`c${n}`)
        .insert([{ _id: 'large', text, bytes: new Float64Array(20_000).fill(n) }, { _id: 'b' }])
    }
    await db.dropCollection('c3')
    const target = create()
    const copy = keep(await open(target.name, { storage: target.storage, from: await bytesOf(db.snapshot()) }))
    const again = keep(await open('again', { storage: memory(), from: copy.snapshot() }))
    assertEqual(await contentOf(again), await contentOf(db))
    assertEqual((await again.check()).problems, [])
  })

  check('it holds one moment, whatever is written meanwhile', async (create, keep) => {
    const { storage, name } = create()
    const db = keep(await filled(storage, name, 4000))
    const items = db.collection<Item>('items')
    const expected = new Map((await contentOf(db)).map(({ _id, n, text }) => [_id, { n, text }]))
    expected.set('item-0', { n: 1_000_000, text: 'before' })
    const before = items.upsert({ _id: 'item-0', n: 1_000_000, text: 'before' })
    const stream = db.snapshot()
    const after = items.upsert({ _id: 'item-1', n: 1_000_001, text: 'after' })
    await Promise.all([before, after])
    const reader = stream.getReader()
    const chunks: Uint8Array<ArrayBuffer>[] = []
    const random = seededRandom(1)
    for (let round = 0; ; round++) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value as Uint8Array<ArrayBuffer>)
      if (round > 4) continue
      await items.upsert(
        Array.from({ length: 500 }, () => ({ _id: `item-${random.below(4000)}`, n: round, text: 'new' })),
      )
      await items.delete(`item-${2000 + round}`)
      for (let i = 0; i < 3; i++) await db.flush()
    }
    const copy = keep(await open('copy', { storage: memory(), from: new Blob(chunks) }))
    assertEqual(new Map((await contentOf(copy)).map(({ _id, n, text }) => [_id, { n, text }])), expected)
    assertEqual((await copy.check()).problems, [])
    assertEqual((await db.check()).problems, [])
  })
}

function handleCases(check: Case): void {
  check('another handle writes, and reclaims pages, meanwhile', async (create, keep) => {
    const { storage, name } = create()
    const db = keep(await filled(storage, name, 4000))
    const other = keep(await open(name, { storage }))
    const items = other.collection<Item>('items')
    const expected = await contentOf(db)
    const reader = db.snapshot().getReader()
    const chunks: Uint8Array<ArrayBuffer>[] = []
    for (let round = 0; ; round++) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value as Uint8Array<ArrayBuffer>)
      if (round > 3) continue
      await items.upsert(some(4000, (n) => ({ _id: `item-${n}`, n: round, text: 'new' })))
      for (let i = 0; i < 3; i++) await other.flush()
    }
    const copy = keep(await open('copy', { storage: memory(), from: new Blob(chunks) }))
    assertEqual(await contentOf(copy), expected)
    assertEqual((await copy.check()).problems, [])
    // Once it is read nothing holds the old pages any more.
    await db.refresh()
    for (let i = 0; i < 4; i++) await other.flush()
    assertEqual((await other.check()).problems, [])
  })
}

function damageCases(check: Case): void {
  const CODES = ['PANNIER_CORRUPT', 'PANNIER_FORMAT_WRONG', 'PANNIER_FORMAT_NEWER']

  check(
    'a file that is cut off, changed, or of something else is refused, and leaves nothing',
    async (create, keep) => {
      const source = create()
      const db = await filled(source.storage, source.name, 200)
      const file = await bytesOf(db.snapshot())
      const expected = await contentOf(db)
      await db.close()
      const { storage, name } = create()
      const refused = async (bytes: Uint8Array, codes: readonly string[], what: string): Promise<void> => {
        const error = await assertRejects(open(name, { storage, from: bytes }))
        assertTrue(codes.includes((error as { code: string }).code), `${what}: ${String(error)}`)
      }
      const random = seededRandom(2)
      for (const length of [
        0,
        7,
        8,
        31,
        32,
        33,
        40,
        41,
        200,
        file.length - 1,
        ...some(8, () => random.below(file.length)),
      ])
        await refused(
          file.subarray(0, length),
          length < 8 ? ['PANNIER_FORMAT_WRONG'] : ['PANNIER_CORRUPT'],
          `cut at ${length}`,
        )
      for (const at of [...some(24, (n) => n * 2), ...some(16, () => random.below(file.length)), file.length - 1]) {
        const changed = file.slice()
        changed[at]! ^= 1 << random.below(8)
        await refused(changed, CODES, `a bit flipped at ${at}`)
      }
      await refused(new TextEncoder().encode('SQLite format 3\0'.repeat(100)), ['PANNIER_FORMAT_WRONG'], 'another file')
      await refused(concatenated(file, new Uint8Array(1)), ['PANNIER_CORRUPT'], 'bytes that follow')
      await refused(concatenated(file.subarray(0, 32), file), ['PANNIER_CORRUPT'], 'its start twice')
      // Nothing is left: the same name is free.
      const copy = keep(await open(name, { storage, from: file }))
      assertEqual(await contentOf(copy), expected)
    },
  )
}

function existingCases(check: Case): void {
  check('it does not touch a database that exists', async (create, keep) => {
    const source = create()
    const db = keep(await filled(source.storage, source.name, 50))
    const file = await bytesOf(db.snapshot())
    const { storage, name } = create()
    const existing = await open(name, { storage })
    await existing.collection('mine').insert({ _id: 'a' })
    await assertRejects(open(name, { storage, from: file }), 'PANNIER_EXISTS')
    await existing.collection('mine').insert({ _id: 'b' })
    await existing.close()
    await assertRejects(open(name, { storage, from: file }), 'PANNIER_EXISTS')
    await assertRejects(open(name, { storage, from: new Uint8Array(5) }), 'PANNIER_EXISTS')
    // A function is not even asked.
    const never = (): never => {
      throw new Error('called')
    }
    const again = keep(await open(name, { storage, from: never }))
    assertEqual(await again.collections(), ['mine'])
    assertEqual(await again.collection('mine').find().count(), 2)
    assertEqual((await again.check()).problems, [])
  })

  check('a function gives the snapshot when there is no database; two opens at once make one', async (create, keep) => {
    const source = create()
    const db = keep(await filled(source.storage, source.name, 2000))
    const file = await bytesOf(db.snapshot())
    const { storage, name } = create()
    let calls = 0
    const from = (): Promise<Uint8Array> => {
      calls++
      return Promise.resolve(file)
    }
    const [one, two] = await Promise.all([open(name, { storage, from }), open(name, { storage, from })])
    assertEqual(calls, 1)
    assertEqual(await contentOf(two), await contentOf(db))
    await one.collection('items').insert({ _id: 'more' })
    await two.refresh()
    assertEqual(await two.collection('items').find().count(), 2001)
    await one.close()
    await two.close()
    const fails = create()
    const failure = new Error('no network')
    assertEqual(await assertRejects(open(fails.name, { storage, from: () => Promise.reject(failure) })), failure)
  })
}

function cancelCases(check: Case): void {
  check('both can be cancelled, and leave nothing held or half done', async (create, keep) => {
    const { storage, name } = create()
    const db = keep(await filled(storage, name, 3000))
    const stopping = new AbortController()
    const reader = db.snapshot({ signal: stopping.signal }).getReader()
    await reader.read()
    stopping.abort()
    const readToEnd = async (): Promise<void> => {
      while (!(await reader.read()).done) continue
    }
    await assertRejects(readToEnd(), 'PANNIER_ABORTED')
    const other = db.snapshot()
    await other.cancel()
    const third = db.snapshot().getReader()
    await third.read()
    await third.cancel()
    const file = await bytesOf(db.snapshot())
    const target = create()
    const signal = AbortSignal.abort()
    await assertRejects(open(target.name, { storage: target.storage, from: file, signal }), 'PANNIER_ABORTED')
    const later = new AbortController()
    const onProgress = (part: number): void => (part > 0 ? later.abort() : undefined)
    const cancelled = open(target.name, { storage: target.storage, from: file, signal: later.signal, onProgress })
    await assertRejects(cancelled, 'PANNIER_ABORTED')
    const failure = new Error('connection lost')
    const broken = open(target.name, { storage: target.storage, from: streamOf(file, 5000, failure) })
    assertEqual(await assertRejects(broken), failure)
    const copy = keep(await open(target.name, { storage: target.storage, from: file }))
    assertEqual(await copy.collection('items').find().count(), 3000)
    assertEqual((await db.check()).problems, [])
  })

  check('closing the database ends a snapshot under way', async (create) => {
    const { storage, name } = create()
    const db = await filled(storage, name, 3000)
    const reader = db.snapshot().getReader()
    await reader.read()
    await db.close()
    const readToEnd = async (): Promise<void> => {
      while (!(await reader.read()).done) continue
    }
    await assertRejects(readToEnd(), 'PANNIER_CLOSED')
  })
}

function textOf(n: number): string {
  return `text of item ${n} `.repeat(n % 30)
}

async function filled(storage: DatabaseStorage, name: string, count: number): Promise<Database> {
  const db = await open(name, { storage })
  const items = db.collection<Item>('items', { indexes: ['n'] })
  await items.insert(some(count, (n) => ({ _id: `item-${n}`, n, text: textOf(n) })))
  await items.ready()
  return db
}

function some<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** Every document of every collection, by id. */
async function contentOf(db: Database): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = []
  for (const name of await db.collections()) all.push(...(await db.collection(name).find().sort('_id').toArray()))
  return all
}

function assertProgress(done: readonly number[]): void {
  assertEqual(done.at(-1), 1)
  assertTrue(
    done.every((part, at) => part >= 0 && part <= 1 && (at === 0 || part >= done[at - 1]!)),
    'progress grows from 0 to 1',
  )
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
}

function concatenated(...parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** In chunks of that size; with `failure`, half of them and then that. */
function streamOf(bytes: Uint8Array, chunkBytes: number, failure?: Error): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (failure !== undefined && at > bytes.length / 2) throw failure
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(at, (at += chunkBytes)))
    },
  })
}
