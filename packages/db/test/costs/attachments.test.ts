/** Goal: the rows on attachments of docs/internals/costs.md hold, with 10 and with 2,000 other attachments around. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Database } from '../../src/database/database.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { CHUNK_BYTES } from '../../src/document/attachments/blob-store.ts'
import { UPLOAD_BYTES } from '../../src/document/attachments/upload.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { contentBytes, contentPieces } from '../../testing/attachment-fixture.ts'
import { backendCalls, backendWrites, counting } from '../../testing/counting-page-store.ts'

const LARGE = 20 * 1024 * 1024
const SMALL = 8000
/** Pages from root to leaf in the largest tree of these databases. */
const HEIGHT = 2
/** A page takes so many bytes of a long content; a chunk takes four. */
const PAGE_BYTES = 61_432

for (const count of [10, 2000]) {
  describe(`${count} other attachments`, () => {
    const storage = counting(memory())
    let db: Database
    let docs: Collection<JsonObject>

    const reopen = async (): Promise<void> => {
      await db.close()
      db = await open('costs', { storage })
      docs = db.collection('docs')
      storage.take()
    }

    beforeAll(async () => {
      db = await open('costs', { storage })
      docs = db.collection('docs')
      const others = Array.from({ length: count }, (_, at) => ({
        _id: `other-${at}`,
        _attachments: { x: { data: new TextEncoder().encode(`${at}`.padEnd(3000, '-')) } },
      }))
      await docs.insert(others)
      await docs.insert([{ _id: 'large' }, { _id: 'copy' }, { _id: 'small' }])
      await db.flush()
    })

    afterAll(async () => {
      expect((await db.check()).problems).toEqual([])
      await db.close()
    })

    test('a short attachment: 1 backend write, with its document', async () => {
      await docs.putAttachment('small', 'y', contentBytes(2, SMALL))
      storage.take()
      await docs.putAttachment('small', 'x', contentBytes(1, SMALL))
      await docs.upsert({ _id: 'inline', _attachments: { x: { data: contentBytes(3, SMALL) } } })
      const counts = storage.take()
      expect(backendWrites(counts)).toBe(2)
      expect(counts.bytesWritten).toBeLessThanOrEqual(2 * (SMALL + 1000))
    })

    test('a long one: a commit for each 2 MB, and its bytes once', async () => {
      storage.take()
      await docs.putAttachment('large', 'x', contentPieces(5, LARGE))
      const counts = storage.take()
      const transactions = Math.ceil(LARGE / UPLOAD_BYTES)
      // Before them the one that begins the upload, after them the one of the document and one that finds nothing to forget.
      expect(counts.appends + counts.commits).toBeLessThanOrEqual(transactions + 3)
      expect(counts.bytesWritten).toBeLessThanOrEqual(LARGE * 1.02)
    })

    test('content that is there: its bytes are read, and not written again', async () => {
      await db.flush()
      await reopen()
      await docs.putAttachment('copy', 'x', contentBytes(1, SMALL))
      const { bytesWritten, pagesRead } = storage.take()
      expect(bytesWritten).toBeLessThanOrEqual(1000)
      expect(pagesRead).toBeLessThanOrEqual(8 * HEIGHT)
    })

    test('a document: no page of its attachments; counting the bytes of one neither', async () => {
      await reopen()
      const document = await docs.get('large')
      expect(document?._attachments?.['x']?.length).toBe(LARGE)
      const attachment = await docs.getAttachment('large', 'x')
      expect(attachment?.length).toBe(LARGE)
      expect(storage.take().pagesRead).toBeLessThanOrEqual(3 * HEIGHT)
    })

    test('a range: the chunks that it touches', async () => {
      const attachment = (await docs.getAttachment('large', 'x'))!
      for (const [start, end, chunks] of [
        [0, 10, 1],
        [10 * CHUNK_BYTES - 1, 10 * CHUNK_BYTES + 1, 2],
        [5 * CHUNK_BYTES, 8 * CHUNK_BYTES, 3],
      ] as const) {
        await reopen()
        const again = (await docs.getAttachment('large', 'x'))!
        storage.take()
        expect(await again.bytes({ start, end })).toHaveLength(end - start)
        const { pagesRead, pageBatches } = storage.take()
        expect(pagesRead).toBeLessThanOrEqual(chunks * 4 + 2 * HEIGHT)
        expect(pageBatches).toBeLessThanOrEqual(2 * HEIGHT + 1)
      }
      expect(attachment.length).toBe(LARGE)
    })

    test('a whole one: each page once, in batches of a chunk at least', async () => {
      await reopen()
      const attachment = (await docs.getAttachment('large', 'x'))!
      storage.take()
      for await (const piece of attachment.stream()) expect(piece.length).toBeGreaterThan(0)
      const { pagesRead, pageBatches } = storage.take()
      const chunks = Math.ceil(LARGE / CHUNK_BYTES)
      expect(pagesRead).toBeLessThanOrEqual(Math.ceil(LARGE / PAGE_BYTES) + 2 * HEIGHT)
      expect(pageBatches).toBeLessThanOrEqual(chunks + 2 * HEIGHT)
    })

    test('an edit that keeps attachments: 1 backend write, and nothing of them is read', async () => {
      await reopen()
      await docs.update('large', (document) => ({ ...document, n: 1 }))
      storage.take()
      await docs.update('large', (document) => ({ ...document, n: 2 }))
      const counts = storage.take()
      expect(backendCalls(counts)).toBe(1)
      expect(counts.bytesWritten).toBeLessThanOrEqual(500)
    })

    test('deleting: 1 backend write; no content is read; the next storage checkpoints free its pages', async () => {
      await reopen()
      await docs.delete('large')
      const counts = storage.take()
      expect(backendWrites(counts)).toBe(1)
      expect(counts.pagesRead).toBeLessThanOrEqual(6 * HEIGHT)
      for (let i = 0; i < 3; i++) {
        await docs.upsert({ _id: 'small', i })
        await db.flush()
      }
      expect(storage.take().pagesFreed).toBeGreaterThanOrEqual(Math.floor(LARGE / PAGE_BYTES))
    })
  })
}
