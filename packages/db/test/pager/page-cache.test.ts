/** Pages that arrive before all are there: checked like the others, and parsed once. And pages that are not there. */
import { describe, expect, test } from 'vitest'
import type { PageId } from '../../src/base/brand.ts'
import { attempt } from '../../src/base/miss.ts'
import { PageCache } from '../../src/pager/page-cache.ts'
import { PAGE_LEAF, sealPage } from '../../src/pager/page.ts'
import type { PageArrived } from '../../src/storage/page-store.ts'

type Early = (ids: readonly PageId[], pages: readonly Uint8Array[], arrived: PageArrived) => void

const IDS = [1, 2, 3] as PageId[]

function sealedPage(id: PageId): Uint8Array {
  const bytes = new Uint8Array(2000).fill(id)
  sealPage(id, bytes, PAGE_LEAF, 0, 0)
  return bytes
}

function cacheOver(pages: ReadonlyMap<PageId, Uint8Array>, early: Early) {
  const parsed: PageId[] = []
  const readPages = async (ids: readonly PageId[], arrived?: PageArrived): Promise<(Uint8Array | undefined)[]> => {
    await Promise.resolve()
    const found = ids.map((id) => pages.get(id))
    early(ids, found as Uint8Array[], arrived!)
    return found
  }
  const parse = (id: PageId) => {
    parsed.push(id)
    return { id, memoryBytes: 2000 }
  }
  const cache = new PageCache({ readPages }, parse, () => 1 << 20)
  const readAll = () =>
    attempt(() => {
      for (const id of IDS) cache.note(id)
      cache.throwIfNoted()
      return IDS.map((id) => cache.get(id).id)
    })
  return { readAll, parsed, cache }
}

const earlyWays: Record<string, Early> = {
  none: () => {},
  'the last one': (ids, pages, arrived) => arrived(ids.length - 1, pages.at(-1)!),
  all: (_, pages, arrived) => pages.forEach((bytes, index) => arrived(index, bytes)),
  'copies that do not count': (_, pages, arrived) =>
    pages.forEach((_bytes, index) => arrived(index, new Uint8Array(9))),
}

describe('pages that arrive early', () => {
  for (const [name, early] of Object.entries(earlyWays)) {
    test(name, async () => {
      const { readAll, parsed } = cacheOver(new Map(IDS.map((id) => [id, sealedPage(id)])), early)
      expect(await readAll()).toEqual(IDS)
      expect(parsed.toSorted((left, right) => left - right)).toEqual(IDS)
    })

    test(`${name}, and one is damaged`, async () => {
      const pages = new Map(IDS.map((id) => [id, sealedPage(id)]))
      pages.get(IDS[2]!)![1000]! ^= 1
      const { readAll } = cacheOver(pages, early)
      await expect(readAll()).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
    })
  }
})

test('a missing page is an error of the read that needs it, not of a read whose miss fetched it', async () => {
  const { cache } = cacheOver(new Map([[IDS[0]!, sealedPage(IDS[0]!)]]), () => {})
  cache.note(IDS[1]!)
  expect(await attempt(() => cache.get(IDS[0]!).id)).toBe(IDS[0])
  await expect(async () => attempt(() => cache.get(IDS[1]!))).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
  await expect(async () => cache.load([IDS[2]!])).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
})

test('a page is summed once: later its checksum has to be that of then', async () => {
  const pages = new Map(IDS.map((id) => [id, sealedPage(id)]))
  const { readAll, cache } = cacheOver(pages, () => {})
  await readAll()
  const [first, second] = [pages.get(IDS[0]!)!, pages.get(IDS[1]!)!]
  cache.drop(IDS[0]!)
  first[1000]! ^= 1
  expect(await readAll()).toEqual(IDS)
  for (const other of [second, new Uint8Array(2000), new Uint8Array(3)]) {
    cache.drop(IDS[0]!)
    pages.set(IDS[0]!, other)
    await expect(readAll()).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
  }
})

test('a page that is dropped takes no memory, and is read again', async () => {
  const { readAll, parsed, cache } = cacheOver(new Map(IDS.map((id) => [id, sealedPage(id)])), () => {})
  await readAll()
  cache.drop(IDS[1]!)
  cache.drop(IDS[1]!)
  expect(cache.bytes).toBe(4000)
  expect(cache.peek(IDS[1]!)).toBeUndefined()
  expect(await readAll()).toEqual(IDS)
  expect(parsed).toHaveLength(4)
})
