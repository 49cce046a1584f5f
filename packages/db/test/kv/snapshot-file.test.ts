/** The format of snapshot files below the level of databases: what is different in a copy, versions, and what a file must not hold. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Generation, PageId } from '../../src/base/brand.ts'
import { checksum } from '../../src/codec/checksum.ts'
import { writeU32 } from '../../src/codec/bytes.ts'
import { emptyState, encodeMeta } from '../../src/kv/meta-body.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { restoreSnapshot } from '../../src/kv/restore-snapshot.ts'
import { PAGE_LEAF, sealPage } from '../../src/pager/page.ts'
import { readSnapshotFile, SnapshotEncoder, type SnapshotBlock } from '../../src/pager/snapshot-file.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { Page, PageStore } from '../../src/storage/page-store.ts'
import { countingEnvironment } from '../../testing/model-database.ts'
import { soloCoordinator } from './solo-coordinator.ts'
import { times } from '../../../../tools/test/seeds.ts'

const environment = countingEnvironment()
const ID = '0123456789abcdef0123456789abcdef'

async function openOver(store: PageStore): Promise<PagedKeyValueStore> {
  const coordinator = soloCoordinator()
  return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 20 })
}

function newStore(): Promise<PageStore> {
  return memory().open('x')
}

async function restored(...chunks: Uint8Array[]): Promise<PageStore> {
  const store = await newStore()
  await restoreSnapshot(asyncOf(chunks), { store, environment, durability: 'relaxed' })
  return store
}

async function* asyncOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk
}

async function snapshotOf(kv: PagedKeyValueStore): Promise<Uint8Array[]> {
  const { chunks, release } = await kv.exportSnapshot({})
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  release()
  return all
}

function metaPage(nextPageId = 1): Uint8Array {
  return encodeMeta({ ...emptyState(), generation: 0 as Generation, nextPageId: nextPageId as PageId })
}

function pageOf(id: number, length = 100): Page {
  const bytes = new Uint8Array(length).fill(id)
  sealPage(id as PageId, bytes, PAGE_LEAF, 0, 0)
  return { id: id as PageId, bytes }
}

describe('what is different in a copy', () => {
  test('id, generation, commits; nothing that waits to be reclaimed; no log', async () => {
    const store = await newStore()
    const kv = await openOver(store)
    await kv.write((transaction) => {
      const tree = transaction.createTree('t', 'sequence')
      for (let n = 0; n < 200; n++) tree.append(new Uint8Array(3000))
      transaction.createTree('gone', 'sequence').append(new Uint8Array(100_000))
    })
    await kv.checkpoint()
    await kv.write((transaction) => transaction.dropTree('gone'))
    await kv.write((transaction) => void transaction.tree('t')!.append(new Uint8Array([7])))
    const file = await snapshotOf(kv)
    const original = await store.read()
    const [one, two] = [await restored(...file), await restored(...file)]
    const { meta, log } = await one.read()
    expect([meta!.generation, meta!.sequence, log]).toEqual([1, 1, []])
    expect(original.meta!.generation).toBeGreaterThan(1)
    const [copy, other] = [await openOver(one), await openOver(two)]
    expect(new Set([kv.databaseId, copy.databaseId, other.databaseId]).size).toBe(3)
    expect((await one.listPages()).length).toBeLessThan((await store.listPages()).length)
    await copy.check()
    expect(await copy.read((snapshot) => [snapshot.treeNames(), snapshot.tree('t')!.count()])).toEqual([['t'], 201])
    // Numbers go on where those of the original would, and pages get ids that neither has used.
    const number = await copy.write((transaction) => transaction.tree('t')!.append(new Uint8Array([8])))
    expect(number).toBe(202)
    await copy.checkpoint()
    await copy.check()
    const again = await openOver(one)
    expect(again.databaseId).toBe(copy.databaseId)
  })

  test('what is only in the log is written to pages first; if nothing is, nothing is written', async () => {
    const store = await newStore()
    const kv = await openOver(store)
    await kv.write((transaction) => void transaction.createTree('t', 'sequence').append(new Uint8Array(10)))
    await snapshotOf(kv)
    const { meta } = await store.read()
    expect(meta!.sequence).toBe(1)
    await snapshotOf(kv)
    expect((await store.read()).meta!.generation).toBe(meta!.generation)
  })
})

test('however the bytes are cut into chunks', async () => {
  const encoder = new SnapshotEncoder()
  const pages = [pageOf(1), pageOf(2, 5000), pageOf(9)]
  const parts = [
    encoder.prelude(ID),
    encoder.meta(metaPage(10)),
    encoder.pages(pages.slice(0, 2)),
    encoder.pages(pages.slice(2)),
    encoder.end(),
  ]
  const file = Uint8Array.from(parts.flatMap((part) => [...part]))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(file.length), { maxLength: 30 }), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), file.length]
      const chunks = at.slice(1).map((end, n) => file.slice(at[n], end))
      const blocks: SnapshotBlock[] = []
      for await (const block of readSnapshotFile(asyncOf(chunks))) blocks.push(block)
      expect(blocks.map(({ kind }) => kind)).toEqual(['meta', 'pages', 'pages', 'end'])
      expect(blocks.flatMap((block) => (block.kind === 'pages' ? block.pages : []))).toEqual(pages)
    }),
    { numRuns: times(100) },
  )
})

describe('newer versions', () => {
  test('of snapshots', async () => {
    const prelude = new SnapshotEncoder().prelude(ID)
    prelude[8] = 2
    writeU32(prelude, 28, checksum(prelude, 0, 28))
    await expect(restored(prelude)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_NEWER', details: { version: 2 } })
  })

  test('of the database inside', async () => {
    const encoder = new SnapshotEncoder()
    const meta = metaPage()
    meta[4] = 200
    writeU32(meta, 6, checksum(meta, 10, meta.length, 0))
    const file = [encoder.prelude(ID), encoder.meta(meta), encoder.end()]
    await expect(restored(...file)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_NEWER', details: { version: 200 } })
  })
})

describe('files whose checksums are right and that are wrong all the same', () => {
  const refused = async (make: (encoder: SnapshotEncoder) => Uint8Array[]): Promise<void> => {
    const encoder = new SnapshotEncoder()
    const file = [encoder.prelude(ID), ...make(encoder)]
    await expect(restored(...file)).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
  }

  test('a page twice, or with an id that is free', async () => {
    await refused((encoder) => [
      encoder.meta(metaPage(5)),
      encoder.pages([pageOf(3)]),
      encoder.pages([pageOf(3)]),
      encoder.end(),
    ])
    await refused((encoder) => [encoder.meta(metaPage(5)), encoder.pages([pageOf(5)]), encoder.end()])
    await refused((encoder) => [
      encoder.meta(metaPage(5)),
      encoder.pages([{ id: 0 as PageId, bytes: new Uint8Array(9) }]),
      encoder.end(),
    ])
  })

  test('a page that is too large', async () => {
    await refused((encoder) => [encoder.meta(metaPage(5)), encoder.pages([pageOf(1, 62_000)]), encoder.end()])
  })

  test('blocks out of order, missing, of another file, or twice', async () => {
    await refused((encoder) => [encoder.pages([pageOf(1)]), encoder.end()])
    await refused((encoder) => [encoder.end()])
    await refused((encoder) => [encoder.meta(metaPage()), encoder.meta(metaPage()), encoder.end()])
    await refused((encoder) => [encoder.meta(metaPage(5)), encoder.pages([pageOf(1)]), encoder.end()].toSpliced(1, 1))
    await refused((encoder) => {
      const page = encoder.meta(metaPage(5))
      const block = encoder.pages([pageOf(1)])
      return [page, block, block, encoder.end()]
    })
    await refused((encoder) => {
      const other = new SnapshotEncoder()
      other.prelude(ID.replace('0', '1'))
      const mine = [encoder.meta(metaPage(5)), encoder.pages([pageOf(1)]), encoder.end()]
      const theirs = [other.meta(metaPage(5)), other.pages([pageOf(1)]), other.end()]
      return [mine[0]!, theirs[1]!, mine[2]!]
    })
  })

  test('a length that no block has', async () => {
    await refused((encoder) => {
      const block = encoder.meta(metaPage())
      writeU32(block, 5, 0xffffffff)
      return [block]
    })
  })
})
