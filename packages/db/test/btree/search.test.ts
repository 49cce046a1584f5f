/** Goal: a large value whose pages are others is damage, and never an answer. */
import { expect, test } from 'vitest'
import type { PageId } from '../../src/base/brand.ts'
import { attempt } from '../../src/base/miss.ts'
import { parseNode, type Node } from '../../src/btree/node.ts'
import { resolveValue } from '../../src/btree/search.ts'
import { PageCache } from '../../src/pager/page-cache.ts'
import { PAGE_HEADER_BYTES, PAGE_LEAF, PAGE_OVERFLOW, sealPage } from '../../src/pager/page.ts'

const FIRST = 7 as PageId
const LENGTH = 100

/** What is read of a large value in one page. */
function valueIn(kind: number, payloadBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(PAGE_HEADER_BYTES + payloadBytes)
  sealPage(FIRST, bytes, kind, 0, 0)
  const readPages = (ids: readonly PageId[]): Promise<Uint8Array[]> => Promise.resolve(ids.map(() => bytes))
  const cache = new PageCache<Node>({ readPages }, parseNode, () => 1 << 20)
  return Promise.resolve(attempt(() => resolveValue(cache, { length: LENGTH, first: FIRST })))
}

test('a large value is read from pages of its kind, and of its length', async () => {
  expect(await valueIn(PAGE_OVERFLOW, LENGTH)).toHaveLength(LENGTH)
  for (const [kind, payloadBytes] of [
    [PAGE_LEAF, LENGTH],
    [PAGE_OVERFLOW, LENGTH + 1],
  ] as const)
    await expect(valueIn(kind, payloadBytes)).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
})
