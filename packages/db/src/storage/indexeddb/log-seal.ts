/**
 * The calls of the page store contract that only encrypting wrappers make.
 *
 * Log seals stand behind the log records, under the sequence from which on the log's records are those of one handle; the last
 * one counts. A handle whose record is the newest one, as far as it knows, replaces its own log seal, and the transaction is told to
 * end before the answer to the fence is known (see `putAlone`). If the answer then is no, either its record could not be
 * added, which takes all back; or it lies below the log, and the log seal that was replaced is one that had been superseded.
 * A handle that follows another one waits for each request, and removes the log seals of others.
 *
 * When it runs out of room, what Firefox may leave of the former is the record without its log seal: it takes all back if the last
 * request fails. Then this handle waits, too, so there is never more than one such record. Whoever puts log seals allows for it.
 */
import { sameBytes } from '../../codec/bytes.ts'
import type { Durability, Page } from '../page-store.ts'
import { generationOf, keyOf, requestMeta } from './connection.ts'
import { KEYRING, LOG, LOG_END, META, PAGES } from './open.ts'
import {
  assertNone,
  exact,
  last,
  requestNewer,
  requestNewest,
  stale,
  type IndexedDbPageWriter,
  type PutLogSeal,
  type PutRecord,
} from './page-writer.ts'

export function putKeyring(
  writer: IndexedDbPageWriter,
  expected: Uint8Array | undefined,
  keyring: Uint8Array,
  durability: Durability,
): Promise<void> {
  return writer.write([META, LOG], durability, (work) => {
    const metas = work.store(META)
    const current = requestMeta(work)
    const newest = requestNewest(work)
    const stored = metas.get(KEYRING) as IDBRequest<Uint8Array | undefined>
    stored.onsuccess = () => {
      const isEmpty = generationOf(current) === 0 && keyOf(newest) === 0
      if (!sameBytes(stored.result, expected) || (expected === undefined && !isEmpty)) return work.fail(stale())
      last(work, metas.put(exact(keyring), KEYRING))
    }
  })
}

/** An append together with its log seal. */
export function putWithLogSeal(writer: IndexedDbPageWriter, logSeal: Uint8Array): PutRecord {
  return (work, { sequence, bytes }, mayHaveGap) => {
    const log = work.store(LOG)
    const newest = mayHaveGap ? requestNewest(work) : undefined
    const newer = requestNewer(log, sequence)
    const own = !mayHaveGap && writer.ownLogSeal?.newest === sequence - 1 ? writer.ownLogSeal : undefined
    const from = own?.from ?? sequence
    // Until it is known what becomes of this.
    writer.ownLogSeal = undefined
    if (own) {
      log.put(exact(logSeal), [from])
      log.add(exact(bytes), sequence)
      work.commit()
    } else {
      newer.onsuccess = () => {
        if (newer.result !== LOG_END || (newest && keyOf(newest) !== sequence - 1)) work.fail(stale())
      }
      log.add(exact(bytes), sequence).onsuccess = () => {
        log.delete(IDBKeyRange.lowerBound(LOG_END, true)).onsuccess = () => last(work, log.put(exact(logSeal), [from]))
      }
    }
    return () => {
      assertNone(newer)
      writer.ownLogSeal = { from, newest: sequence }
    }
  }
}

export const putLogSealOf: PutLogSeal = (log, { logSeal, meta }) => log.put(exact(logSeal!), [meta.sequence])

/** Each put means the same as what was there, so it would do no harm alone. */
export function replacePages(writer: IndexedDbPageWriter, keyring: Uint8Array, pages: readonly Page[]): Promise<void> {
  return writer.write([META, PAGES], 'relaxed', (work) => {
    const store = work.store(PAGES)
    const stored = work.store(META).get(KEYRING) as IDBRequest<Uint8Array | undefined>
    stored.onsuccess = () => {
      if (!sameBytes(stored.result, keyring)) return work.fail(stale())
      for (const { id, bytes } of pages) {
        const found = store.getKey(id)
        found.onsuccess = () => {
          if (found.result !== undefined) store.put(exact(bytes), id)
        }
      }
    }
  })
}
