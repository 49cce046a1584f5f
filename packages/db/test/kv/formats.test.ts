/**
 * Goal: each format of the engine gives back what was written. Method: random content (fast-check, shrinking) is written and read again
 * by the functions of one file; a byte that is changed is noticed where there is a checksum.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommitSequence, Generation, Key, PageId } from '../../src/base/brand.ts'
import { Branch, buildBranch, type Child } from '../../src/btree/branch.ts'
import { LeafContent } from '../../src/btree/content.ts'
import { Leaf } from '../../src/btree/leaf.ts'
import { asArray, ByteReader, ByteWriter } from '../../src/codec/bytes.ts'
import { decodeCommit, encodeCommit, verifyLogRecord, type CommitBody } from '../../src/kv/commit-record.ts'
import type { Change } from '../../src/kv/overlay.ts'
import { decodeMetaPage, encodeMetaPage } from '../../src/pager/meta-page.ts'
import { verifyPage } from '../../src/pager/page.ts'
import { readReclaimList, writeReclaimList, type ReclaimList } from '../../src/pager/reclaim.ts'

const number = fc.nat(2 ** 40)
const pageId = fc.integer({ min: 1, max: 2 ** 40 }) as fc.Arbitrary<PageId>
const generation = fc.nat(2 ** 33) as fc.Arbitrary<Generation>
const byteString = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
const key = byteString as fc.Arbitrary<string> as fc.Arbitrary<Key>
const bytes = fc.uint8Array({ maxLength: 200 })
const sortedKeys = fc.uniqueArray(key, { minLength: 1, maxLength: 40 }).map((keys) => keys.sort())

const operations = fc.array(fc.tuple(key, fc.oneof(bytes, fc.nat(1000)), fc.boolean())).chain((entries) =>
  fc.record({
    tree: number,
    operations: fc.constant(
      entries.map(([, change, isNew]) => (typeof change === 'number' ? 2 : isNew ? 0 : 1) as 0 | 1 | 2),
    ),
    keys: fc.constant(entries.map(([each]) => each)),
    changes: fc.constant(entries.map(([, change]) => change)),
  }),
)
const created = fc.record({
  id: number,
  name: fc.string({ unit: 'grapheme' }),
  kind: fc.constantFrom('ordered' as const, 'sequence' as const, 'inline' as const),
  reducer: fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined }),
})
const commit: fc.Arbitrary<CommitBody> = fc.record({
  created: fc.array(created),
  dropped: fc.array(number),
  trees: fc.array(operations),
})

/** Short values are byte strings when they are read. */
function withArrays(body: CommitBody): CommitBody {
  const arrayOf = (change: Change): Change => (typeof change === 'number' ? change : asArray(change))
  return { ...body, trees: body.trees.map((tree) => ({ ...tree, changes: tree.changes.map(arrayOf) })) }
}

test('a commit in the log', () => {
  const check = (sequence: number, body: CommitBody): void => {
    const record = {
      sequence: sequence as CommitSequence,
      bytes: encodeCommit(sequence as CommitSequence, new Uint8Array(8).fill(7), body),
    }
    verifyLogRecord(record)
    expect(withArrays(decodeCommit(record.bytes))).toEqual(body)
    const damaged = record.bytes.slice()
    damaged[damaged.length - 1]! ^= 1
    expect(() => verifyLogRecord({ ...record, bytes: damaged })).toThrow(
      expect.objectContaining({ code: 'PANNIER_CORRUPT' }),
    )
  }
  fc.assert(fc.property(number, commit, check))
})

const reclaimList: fc.Arbitrary<ReclaimList> = fc.record({
  unlinked: fc.array(fc.record({ generation, ids: fc.uniqueArray(pageId).map((ids) => ids.sort((a, b) => a - b)) })),
  dropped: fc.array(fc.record({ generation, id: pageId, level: fc.nat(8), overflow: fc.boolean() })),
})

test('a meta page, and the pages to reclaim in it', () => {
  const databaseId = fc.string({ minLength: 32, maxLength: 32, unit: fc.nat(15).map((digit) => digit.toString(16)) })
  fc.assert(
    fc.property(databaseId, pageId, reclaimList, generation, bytes, (id, nextPageId, reclaim, current, content) => {
      const meta = { databaseId: id, nextPageId, reclaim }
      const page = encodeMetaPage(meta, current, (writer) => writer.raw(content))
      const found = decodeMetaPage(page, current)
      expect(found.meta).toEqual(meta)
      expect([...found.body.raw(content.length)]).toEqual([...content])
      expect(() => decodeMetaPage(page, (current + 1) as Generation)).toThrow(
        expect.objectContaining({ code: 'PANNIER_CORRUPT' }),
      )
    }),
  )
})

test('pages to reclaim, whatever their order', () => {
  const shuffled = fc.uniqueArray(pageId, { minLength: 1 })
  fc.assert(
    fc.property(shuffled, (ids) => {
      const writer = new ByteWriter(64)
      writeReclaimList(writer, { unlinked: [{ generation: 1 as Generation, ids }], dropped: [] })
      const { unlinked } = readReclaimList(new ByteReader(writer.finish()))
      expect(unlinked[0]!.ids).toEqual([...ids].sort((a, b) => a - b))
    }),
  )
})

function pageOf(id: PageId, keys: readonly Key[], values: readonly Uint8Array[]): Uint8Array {
  const content = new LeafContent()
  for (const [at, one] of keys.entries()) content.push(one, values[at]!)
  return content.build(id, 0, keys.length)
}

test('a leaf', () => {
  fc.assert(
    fc.property(pageId, sortedKeys, fc.infiniteStream(bytes), (id, keys, stream) => {
      const values = keys.map(() => stream.next().value as Uint8Array)
      const page = pageOf(id, keys, values)
      verifyPage(id, page)
      const leaf = new Leaf(id, page)
      expect(keys.map((_, at) => leaf.key(at))).toEqual(keys)
      expect(keys.map((_, at) => [...(leaf.value(at) as Uint8Array)])).toEqual(values.map((value) => [...value]))
    }),
  )
})

test('a page of entries that leaves have is the page of the same entries, given one by one', () => {
  const prefix = fc.nat(300).map((length) => 'p'.repeat(length))
  const longKeys = fc.tuple(prefix, sortedKeys).map(([shared, keys]) => keys.map((each) => (shared + each) as Key))
  const entries = fc.record({ keys: longKeys, news: fc.infiniteStream(fc.boolean()), stream: fc.infiniteStream(bytes) })
  fc.assert(
    fc.property(pageId, pageId, entries, (id, oldId, { keys, news, stream }) => {
      const values = keys.map(() => stream.next().value as Uint8Array)
      const isNew = keys.map(() => news.next().value as boolean)
      const old = keys.filter((_, at) => !isNew[at])
      const oldValues = values.filter((_, at) => !isNew[at])
      if (old.length === 0) return
      const leaf = new Leaf(oldId, pageOf(oldId, old, oldValues))
      const content = new LeafContent()
      let kept = 0
      for (const [at, key] of keys.entries())
        if (isNew[at]!) content.push(key, values[at]!)
        else content.keep(leaf, kept++)
      expect(content.build(id, 0, keys.length)).toEqual(pageOf(id, keys, values))
      // Without the first and the last entry the rest may share another prefix.
      if (keys.length > 2)
        expect(content.build(id, 1, keys.length - 1)).toEqual(pageOf(id, keys.slice(1, -1), values.slice(1, -1)))
    }),
  )
})

test('a branch, with garbage and reductions', () => {
  const garbage = fc.record({
    bytes: number,
    numbers: fc.uniqueArray(number, { minLength: 1 }).map((all) => all.sort((a, b) => a - b)),
  })
  const child = fc.record({
    id: pageId,
    count: number,
    bytes: number,
    overflow: fc.boolean(),
    garbage: fc.option(garbage, { nil: undefined }),
    reduction: fc.option(bytes, { nil: undefined }),
  })
  fc.assert(
    fc.property(
      pageId,
      fc.integer({ min: 1, max: 8 }),
      sortedKeys,
      fc.infiniteStream(child),
      fc.boolean(),
      (id, level, keys, stream, reduced) => {
        const children = keys.map((separator, at): Child => {
          const one = stream.next().value as Omit<Child, 'separator'>
          return { ...one, separator: at === 0 ? '' : separator, reduction: reduced ? one.reduction : undefined }
        })
        const page = buildBranch(id, level, children, reduced)
        verifyPage(id, page)
        const branch = new Branch(id, page)
        expect(branch.level).toBe(level)
        expect(branch.children).toEqual(children)
      },
    ),
  )
})
