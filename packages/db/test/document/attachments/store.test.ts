/** Goal: content goes in from every kind of source and comes out whole, in part and as a stream; equal content is kept once. */
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CHUNK_BYTES } from '../../../src/document/attachments/blob-store.ts'
import {
  pendingUpload,
  UPLOAD_RENEWAL_MS,
  UPLOAD_SILENCE_MS_MAX,
} from '../../../src/document/attachments/pending-uploads.ts'
import { BlobReader } from '../../../src/document/attachments/blob-store.ts'
import { Upload } from '../../../src/document/attachments/upload.ts'
import { forgetDeadUploads } from '../../../src/document/revision-writes.ts'
import type { WriteContext } from '../../../src/document/write-documents.ts'
import { openKeyValueStore } from '../../../src/kv/open.ts'
import type { PagedKeyValueStore } from '../../../src/kv/open.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import { AttachmentStore, COLLECTION, contentBytes, contentPieces } from '../../../testing/attachment-fixture.ts'
import { countingEnvironment } from '../../../testing/model-database.ts'
import { soloCoordinator } from '../../kv/solo-coordinator.ts'

const LARGE = 11 * CHUNK_BYTES + 12_345

let kv: PagedKeyValueStore
let store: AttachmentStore
let timers: { delayMs: number; callback: () => void; cancelled: boolean }[]

beforeEach(async () => {
  timers = []
  const environment = {
    ...countingEnvironment(),
    after: (delayMs: number, callback: () => void) => {
      const timer = { delayMs, callback, cancelled: false }
      timers.push(timer)
      return () => void (timer.cancelled = true)
    },
  }
  kv = await openKeyValueStore({
    store: await memory().open('x'),
    coordinator: soloCoordinator(),
    environment: countingEnvironment(),
    cacheBytesMax: 1_000_000,
    durability: 'relaxed',
  })
  store = new AttachmentStore(kv, environment)
})

afterEach(async () => {
  await store.check(true)
  expect(timers.every(({ cancelled }) => cancelled)).toBe(true)
  expect(store.target.live.size).toBe(0)
  await kv.check()
  await kv.close()
})

const blobs = (): number =>
  kv.read((snapshot) => (new BlobReader(snapshot, COLLECTION).blobs!.count() - 1) / 2) as number

test('every kind of source, short and long', async () => {
  for (const length of [0, 1, 1000, CHUNK_BYTES, CHUNK_BYTES + 1, LARGE]) {
    const bytes = contentBytes(1, length)
    const sources = {
      bytes,
      view: new Uint8Array([9, ...bytes, 9]).subarray(1, length + 1),
      buffer: bytes.buffer,
      words: length % 2 === 0 ? new Uint16Array(bytes.buffer) : bytes,
      blob: new Blob([bytes]),
      stream: new Blob([bytes]).stream(),
      iterable: contentPieces(1, length),
      base64: Buffer.from(bytes).toString('base64'),
    }
    await store.put('a', Object.fromEntries(Object.entries(sources).map(([name, data]) => [name, { data }])))
    for (const name of Object.keys(sources)) {
      const attachment = (await store.get('a', name))!
      expect(attachment.length).toBe(length)
      expect(Buffer.compare(await attachment.bytes(), bytes), `${name} of ${length}`).toBe(0)
    }
    expect(blobs(), `all of them are one blob of ${length}`).toBe(1)
  }
})

test('ranges', async () => {
  const bytes = contentBytes(2, LARGE)
  await store.put('a', { x: { data: bytes } })
  const attachment = (await store.get('a', 'x'))!
  const at = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES, LARGE - 1, LARGE, LARGE + 5]
  for (const start of at) {
    for (const end of [...at, undefined]) {
      const range = end === undefined ? { start } : { start, end }
      const expected = bytes.subarray(start, Math.max(start, end ?? LARGE))
      expect(Buffer.compare(await attachment.bytes(range), expected)).toBe(0)
      expect(Buffer.compare(await read(attachment.stream(range)), expected)).toBe(0)
    }
  }
  for (const range of [{ start: -1 }, { end: 1.5 }, { start: NaN }])
    await expect(attachment.bytes(range)).rejects.toThrow(TypeError)
})

test('a stream holds its snapshot to its end, and not longer', async () => {
  await store.put('a', { x: { data: contentBytes(3, LARGE) } })
  const attachment = (await store.get('a', 'x'))!
  const [whole, cancelled] = [attachment.stream().getReader(), attachment.stream().getReader()]
  await whole.read()
  await cancelled.read()
  await store.put('a', {})
  // Whatever is freed now may be used again.
  for (let i = 0; i < 4; i++) await store.put('b', { x: { data: contentBytes(i, 1000) } }).then(() => kv.checkpoint())
  let length = CHUNK_BYTES
  for (let piece = await whole.read(); !piece.done; piece = await whole.read()) {
    expect(Buffer.compare(piece.value, contentBytes(3, piece.value.length, length))).toBe(0)
    length += piece.value.length
  }
  expect(length).toBe(LARGE)
  await cancelled.cancel()
  await expect(attachment.bytes()).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
  await expect(attachment.stream().getReader().read()).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
})

test('equal content is kept once, however it comes; it goes with the last document', async () => {
  const bytes = contentBytes(4, LARGE)
  await store.put('a', { x: { data: bytes }, y: { data: contentPieces(4, LARGE, 77_777) } })
  await store.put('b', { z: { data: new Blob([bytes]) }, other: { data: contentBytes(5, LARGE) } })
  expect(blobs()).toBe(2)
  await store.put('a', { y: { stub: true } })
  await store.put('b', {})
  expect(blobs()).toBe(1)
  expect(Buffer.compare(await (await store.get('a', 'y'))!.bytes(), bytes)).toBe(0)
  await store.put('a', {})
  expect(blobs()).toBe(0)
})

test('what has the same MD5 but other bytes is other content', async () => {
  // The pair of Wang and Yu, 2004.
  const one = Buffer.from(
    'd131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a085125e8f7cdc99fd91dbdf280373c5bd8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70',
    'hex',
  )
  const other = Buffer.from(one)
  for (const at of [19, 45, 59, 83, 109, 123]) other[at]! ^= 0x80
  const tail = contentBytes(6, LARGE)
  // A blob is read, and stored while it is read.
  const forms = [new Uint8Array(0), tail].flatMap((end) => [
    { end, dataOf: (bytes: Buffer<ArrayBuffer>) => bytes },
    { end, dataOf: (bytes: Buffer<ArrayBuffer>) => new Blob([bytes]) },
  ])
  for (const { end, dataOf } of forms) {
    const contents = [one, other].map((start) => Buffer.concat([start, end]))
    for (const [at, bytes] of contents.entries()) await store.put(`${at}`, { x: { data: dataOf(bytes) } })
    for (const [at, data] of contents.entries()) {
      const attachment = (await store.get(`${at}`, 'x'))!
      expect(attachment.digest).toBe((await store.get('0', 'x'))!.digest)
      expect(Buffer.compare(await attachment.bytes(), data)).toBe(0)
    }
    expect(blobs()).toBe(2)
  }
})

test('text and blobs', async () => {
  await store.put('a', { x: { data: Buffer.from('grün'), contentType: 'text/plain' } })
  const attachment = (await store.get('a', 'x'))!
  expect(await attachment.text()).toBe('grün')
  expect(await attachment.blob()).toMatchObject({ size: 5, type: 'text/plain' })
  expect(attachment).toMatchObject({
    name: 'x',
    contentType: 'text/plain',
    length: 5,
    digest: `md5-${createHash('md5').update('grün').digest('base64')}`,
  })
})

test('a stub that has nothing to keep', async () => {
  await store.put('a', { x: { data: 'eA==' } })
  await expect(store.put('a', { y: { stub: true }, z: { data: 'eg==' } })).rejects.toMatchObject({
    code: 'PANNIER_ATTACHMENT_MISSING',
  })
  await expect(store.put('a', { x: { stub: true, digest: 'md5-AAAA' } })).rejects.toMatchObject({
    code: 'PANNIER_ATTACHMENT_MISSING',
  })
  await expect(store.put('a', { y: { stub: true }, z: { data: contentPieces(1, LARGE) } })).rejects.toMatchObject({
    code: 'PANNIER_ATTACHMENT_MISSING',
  })
  expect(await store.names('a')).toEqual(['x'])
})

test('a source that fails, gives nonsense or is given up leaves nothing', async () => {
  let returned = 0
  const failing = async function* (error: unknown): AsyncGenerator<Uint8Array> {
    try {
      yield* contentPieces(1, LARGE)
      if (error === undefined) await new Promise(() => {})
      throw error
    } finally {
      returned++
    }
  }
  const broken = new RangeError('broken')
  await expect(store.put('a', { x: { data: failing(broken) } })).rejects.toBe(broken)
  const nonsense = (async function* () {
    yield contentBytes(1, 10)
    yield 'text' as unknown as Uint8Array
  })()
  await expect(store.put('a', { x: { data: nonsense } })).rejects.toThrow(TypeError)
  const controller = new AbortController()
  let reason: unknown
  const stalled = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(contentBytes(1, LARGE)),
    pull: () => {
      controller.abort('enough')
      return new Promise(() => {})
    },
    cancel: (why) => void (reason = why),
  })
  await expect(store.put('a', { x: { data: stalled } }, controller.signal)).rejects.toMatchObject({
    code: 'PANNIER_ABORTED',
    cause: 'enough',
  })
  expect(reason).toBe('enough')
  await expect(store.put('a', { x: { data: 'eA==' } }, controller.signal)).rejects.toMatchObject({
    code: 'PANNIER_ABORTED',
  })
  expect(returned).toBe(1)
  expect(await store.names('a')).toEqual([])
})

test('a dead upload is reclaimed by the next one, a live one is not', async () => {
  const dead = await Upload.start({ ...store.target, live: new Set() })
  await dead.add(Array.from({ length: 9 }, () => contentBytes(1, CHUNK_BYTES)))
  timers.at(-1)!.cancelled = true
  const live = await Upload.start(store.target)
  await live.add(Array.from({ length: 8 }, () => contentBytes(2, CHUNK_BYTES)))
  const other = await Upload.start({ ...store.target, live: new Set() })
  store.clock.now += UPLOAD_SILENCE_MS_MAX - 1
  // Another tab's, which waits for its source, says that it is there.
  const renewal = timers.at(-1)!
  expect(renewal.delayMs).toBe(UPLOAD_RENEWAL_MS)
  renewal.cancelled = true
  renewal.callback()
  store.clock.now += 2
  await store.put('a', { x: { data: contentPieces(3, LARGE) } })
  await expect(dead.finish({ digest: new Uint8Array(16), length: 9 * CHUNK_BYTES }, [])).rejects.toMatchObject({
    code: 'PANNIER_ABORTED',
  })
  await other.add(Array.from({ length: 8 }, () => contentBytes(2, CHUNK_BYTES)))
  const { token } = await live.finish({ digest: new Uint8Array(16), length: 8 * CHUNK_BYTES }, [])
  expect(kv.read((snapshot) => pendingUpload(new BlobReader(snapshot, COLLECTION), token).token)).toBe(token)
  await Promise.all([dead.end(), live.end(), other.end()])
})

test('compaction reclaims a dead upload', async () => {
  const dead = await Upload.start({ ...store.target, live: new Set() })
  await dead.add(Array.from({ length: 9 }, () => contentBytes(1, CHUNK_BYTES)))
  timers.at(-1)!.cancelled = true
  const catalog = { collection: () => ({ number: COLLECTION }) } as unknown as WriteContext['catalog']
  const compact = (): Promise<void> =>
    kv.write((transaction) => forgetDeadUploads(transaction, { catalog, name: 'c' } as WriteContext, store.target))
  const entries = (): number => kv.read((snapshot) => new BlobReader(snapshot, COLLECTION).blobs!.count()) as number
  const before = entries()
  store.clock.now += UPLOAD_SILENCE_MS_MAX - 1
  await compact()
  expect(entries()).toBe(before)
  store.clock.now += 2
  await compact()
  expect(entries()).toBe(before - 1)
  await dead.end()
})

async function read(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as never).arrayBuffer())
}
