/** The calls of the page store contract that only wrappers make which seal: loaded when they do. */
import { sameBytes } from '../../codec/same-bytes.ts'
import type { Durability, Page } from '../page-store.ts'
import { HEADER, LOG, META, PAGES } from './open.ts'
import { exact, last, requestNewest, stale, type IndexedDbPageWriter } from './page-writer.ts'
import { generationOf, keyOf, requestMeta } from './stored-meta.ts'

export function putHeader(
  writer: IndexedDbPageWriter,
  expected: Uint8Array | undefined,
  header: Uint8Array,
  durability: Durability,
): Promise<void> {
  return writer.write([META, LOG], durability, (work) => {
    const metas = work.store(META)
    const current = requestMeta(work)
    const newest = requestNewest(work)
    const stored = metas.get(HEADER) as IDBRequest<Uint8Array | undefined>
    stored.onsuccess = () => {
      const isEmpty = generationOf(current) === 0 && keyOf(newest) === 0
      if (!sameBytes(stored.result, expected) || (expected === undefined && !isEmpty)) return work.fail(stale())
      last(work, metas.put(exact(header), HEADER))
    }
  })
}

/** Each put means the same as what was there, so it would do no harm alone. */
export function replacePages(writer: IndexedDbPageWriter, header: Uint8Array, pages: readonly Page[]): Promise<void> {
  return writer.write([META, PAGES], 'relaxed', (work) => {
    const store = work.store(PAGES)
    const stored = work.store(META).get(HEADER) as IDBRequest<Uint8Array | undefined>
    stored.onsuccess = () => {
      if (!sameBytes(stored.result, header)) return work.fail(stale())
      for (const { id, bytes } of pages) {
        const found = store.getKey(id)
        found.onsuccess = () => {
          if (found.result !== undefined) store.put(exact(bytes), id)
        }
      }
    }
  })
}
