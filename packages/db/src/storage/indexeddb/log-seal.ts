/**
 * The calls of the page store contract that only encrypting wrappers make.
 *
 * Heads stand behind the log records, under the sequence from which on the log's records are those of one handle; the last
 * one counts. A handle whose record is the newest one, as far as it knows, replaces its own head, and the transaction is told to
 * end before the answer to the fence is known (see `putAlone`). If the answer then is no, either its record could not be
 * added, which takes all back; or it lies below the log, and the head that was replaced is one that had been superseded.
 * A handle that follows another one waits for each request, and removes the heads of others.
 *
 * When it runs out of room, what Firefox may leave of the former is the record without its head: it takes all back if the last
 * request fails. Then this handle waits, too, so there is never more than one such record. Whoever puts heads allows for it.
 */
import { sameBytes } from '../../codec/bytes.ts'
import type { Durability, Page } from '../page-store.ts'
import { generationOf, keyOf, requestMeta } from './connection.ts'
import { HEADER, LOG, LOG_END, META, PAGES } from './open.ts'
import {
  assertNone,
  exact,
  last,
  requestNewer,
  requestNewest,
  stale,
  type IndexedDbPageWriter,
  type PutHead,
  type PutRecord,
} from './page-writer.ts'

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

/** An append together with its head. */
export function putWithHead(writer: IndexedDbPageWriter, head: Uint8Array): PutRecord {
  return (work, { sequence, bytes }, mayHaveGap) => {
    const log = work.store(LOG)
    const newest = mayHaveGap ? requestNewest(work) : undefined
    const newer = requestNewer(log, sequence)
    const own = !mayHaveGap && writer.ownHead?.newest === sequence - 1 ? writer.ownHead : undefined
    const from = own?.from ?? sequence
    // Until it is known what becomes of this.
    writer.ownHead = undefined
    if (own) {
      log.put(exact(head), [from])
      log.add(exact(bytes), sequence)
      work.commit()
    } else {
      newer.onsuccess = () => {
        if (newer.result !== LOG_END || (newest && keyOf(newest) !== sequence - 1)) work.fail(stale())
      }
      log.add(exact(bytes), sequence).onsuccess = () => {
        log.delete(IDBKeyRange.lowerBound(LOG_END, true)).onsuccess = () => last(work, log.put(exact(head), [from]))
      }
    }
    return () => {
      assertNone(newer)
      writer.ownHead = { from, newest: sequence }
    }
  }
}

export const putHeadOf: PutHead = (log, { head, meta }) => log.put(exact(head!), [meta.sequence])

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
