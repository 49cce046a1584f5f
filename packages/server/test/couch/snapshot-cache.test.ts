/** A snapshot that is kept is one of the collection as it is now. */
import { open } from 'pannier'
import type { Collection } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { SnapshotCache } from '../../src/couch/snapshot-cache.ts'
import type { JsonObject } from '@pannier/backend/internal'

const signal = new AbortController().signal

function exportable(docs: Collection<JsonObject>): Parameters<SnapshotCache['read']>[0] {
  const { name } = docs
  const exportReplica = (left: AbortSignal) =>
    docs.export({ format: 'replica', signal: left }) as unknown as AsyncIterable<Uint8Array>
  return { name, info: () => docs.info(), exportReplica }
}

async function textOf(cache: SnapshotCache, collection: Collection<JsonObject>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of cache.read(exportable(collection), signal)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('the same bytes until something changes, a purge or another life of the collection too', async () => {
  await using db = await open('snapshots', { storage: memory() })
  const docs = db.collection<JsonObject>('docs')
  const cache = new SnapshotCache()
  const changes = [
    () => docs.insert([{ _id: 'a' }, { _id: 'b' }]),
    () => docs.delete('a'),
    () => docs.put({ _id: 'c', _rev: '2-x', n: 1 }, { newEdits: false }),
    () => docs.purge('b'),
    async () => {
      await db.dropCollection('docs')
      await docs.insert([{ _id: 'a' }, { _id: 'b' }])
    },
  ]
  for (const change of changes) {
    await change()
    const fresh = await textOf(new SnapshotCache(), docs)
    expect(await textOf(cache, docs)).toBe(fresh)
    expect(await textOf(cache, docs)).toBe(fresh)
  }
})

test('one that was not read to its end is not kept; nor is one that is large', async () => {
  await using db = await open('snapshots', { storage: memory() })
  const docs = db.collection<JsonObject>('docs')
  const cache = new SnapshotCache()
  const large = 'x'.repeat(1024 * 1024)
  await docs.insert(Array.from({ length: 17 }, (_, n) => ({ _id: String(n), large })))
  for await (const chunk of cache.read(exportable(docs), signal)) if (chunk.length > 0) break
  const text = await textOf(cache, docs)
  expect(text.length).toBeGreaterThan(17 * large.length)
  expect(await textOf(cache, docs)).toBe(text)
})
