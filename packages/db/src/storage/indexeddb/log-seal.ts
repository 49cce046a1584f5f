/**
 * The calls of the page store contract that only encrypting wrappers make.
 *
 * Log seals stand behind the log records, under the sequence from which on the log's records are those of one handle; the last
 * one counts. A handle whose record is the newest one, as far as it knows, replaces its own log seal. The transaction commits
 * before it is known whether the record counts (log.ts). If it does not, the log seal that was replaced had been superseded.
 * A handle that follows another one waits for each request, and removes the log seals of others.
 *
 * When it runs out of room, what Firefox may leave of the former is the record without its log seal: it takes all back if the last
 * request fails. Then this handle waits, too, so there is never more than one such record. Whoever puts log seals allows for it.
 */
import { sameBytes } from '../../codec/bytes.ts'
import type { Durability, Page } from '../page-store.ts'
import { generationOf, requestMeta } from './connection.ts'
import { addRecord, exact, recordKeys, stale, whenNext, type Placement } from './log.ts'
import { KEYRING, LOG, LOG_END, META, PAGES } from './open.ts'
import { last, type IndexedDbPageWriter, type PutLogSeal, type PutRecord } from './page-writer.ts'

export function putKeyring(
  writer: IndexedDbPageWriter,
  expected: Uint8Array | undefined,
  keyring: Uint8Array,
  durability: Durability,
): Promise<void> {
  return writer.write([META, LOG], durability, (work) => {
    const metas = work.store(META)
    const current = requestMeta(work)
    const record = work.store(LOG).getKey(recordKeys(-1))
    const stored = metas.get(KEYRING) as IDBRequest<Uint8Array | undefined>
    stored.onsuccess = () => {
      const isEmpty = generationOf(current) === 0 && record.result === undefined
      if (!sameBytes(stored.result, expected) || (expected === undefined && !isEmpty)) return work.fail(stale())
      last(work, metas.put(exact(keyring), KEYRING))
    }
  })
}

/** An append together with its log seal. */
export function putWithLogSeal(writer: IndexedDbPageWriter, logSeal: Uint8Array): PutRecord {
  return (work, record, lastKey) => {
    const { sequence } = record
    const log = work.store(LOG)
    const own = lastKey !== undefined && writer.ownLogSeal?.newest === sequence - 1 ? writer.ownLogSeal : undefined
    const from = own?.from ?? sequence
    // Until it is known what becomes of this.
    writer.ownLogSeal = undefined
    let placement: Placement
    whenNext(work, record, own && lastKey, (key) => {
      if (own) log.put(exact(logSeal), [from])
      placement = addRecord(work, record, key)
      if (own) return work.commit()
      placement.request.onsuccess = () => {
        const others = log.delete(IDBKeyRange.lowerBound(LOG_END, true))
        others.onsuccess = () => last(work, log.put(exact(logSeal), [from]))
      }
    })
    return () => {
      writer.ownLogSeal = { from, newest: sequence }
      return placement
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
