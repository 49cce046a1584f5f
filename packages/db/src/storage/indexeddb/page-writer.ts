/**
 * The calls of the page store contract that write.
 *
 * IndexedDB promises that a transaction happens whole or not at all. Firefox breaks this promise when it runs out of
 * room. It undoes what was done, but then carries out, one by one, requests that were issued before the failure was
 * known. So a request is issued together with others only if it does no harm alone: putting pages at unused ids, or
 * deleting pages without references. A request that changes the state comes last, after all before it have succeeded.
 * Freeing pages and truncating the log follow the commit, in their own transaction.
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { PannierError, isPannierError } from '../../base/errors.ts'
import type { Commit, Durability, LogRecord, Page } from '../page-store.ts'
import { type Connection, type Work, CURRENT, generationOf, keyOf, requestMeta } from './connection.ts'
import { KEYRING, LOG, LOG_END, META, PAGES } from './open.ts'
import { keepReserve, releaseReserve, writeWhenThereIsRoom } from './quota-reserve.ts'

/** A key in `meta`. */
const CLAIM = 'claim'

/** Stands in for a claim when a commit without one meets one that was abandoned. */
const TAKEOVER = 'takeover'

/** The number of puts that run at a time: enough to keep the engine busy, and few enough not to fill the memory. */
const PUTS_AT_ONCE = 64

/** Log records up to this size may use the reserve: those of deletions, a thousand at a time. */
const RESERVED_RECORD_BYTES_MAX = 64 * 1024

/** Puts a log record, and perhaps more with it; what it gives is called when the transaction has completed. */
export type PutRecord = (work: Work, record: LogRecord, mayHaveGap: boolean) => () => void

/** Requests that the log seal of a commit be put; the request given is the last one. */
export type PutLogSeal = (log: IDBObjectStore, commit: Commit) => IDBRequest

/** What reads and writes of a handle tell one another. */
export interface Seen {
  /** The log reaches at least to here, as this handle has seen itself. */
  newest: number
}

export class IndexedDbPageWriter {
  readonly #connection: Connection
  readonly #seen: Seen
  /** What this generation freed is deleted. */
  #sweptGeneration = 0
  /** The records that came with the log seal of this handle, if it has one: log-seal.ts. */
  ownLogSeal: { readonly from: number; readonly newest: number } | undefined

  constructor(connection: Connection, seen: Seen) {
    this.#connection = connection
    this.#seen = seen
  }

  /** `put`: that of log-seal.ts where a log seal comes along. */
  append(record: LogRecord, durability: Durability, put?: PutRecord): Promise<void> {
    return this.#add(record, durability, put).catch(async (error: unknown) => {
      if (!isPannierError(error, 'PANNIER_QUOTA_EXCEEDED')) throw error
      await this.#relieve()
      if (record.bytes.length > RESERVED_RECORD_BYTES_MAX) throw error
      const add = (): Promise<void> => this.#add(record, durability, put)
      const again = (await releaseReserve()) ? writeWhenThereIsRoom(add, () => this.#relieve()) : add()
      // Firefox may have left the record without what comes with it. It is in the way then, and the next reader finds
      // it.
      await again.catch(() => {
        throw error
      })
    })
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): Promise<void> {
    return this.write([META, PAGES], 'relaxed', (work) => {
      const current = requestMeta(work)
      current.onsuccess = () => {
        if (generationOf(current) !== expectedGeneration) return work.fail(stale())
        work.store(META).put(token, CLAIM).onsuccess = () => {
          last(work, work.store(PAGES).delete(IDBKeyRange.lowerBound(firstNewPageId)))
        }
      }
    })
  }

  stage(token: string, pages: readonly Page[]): Promise<void> {
    return this.write([META, PAGES], 'relaxed', (work) => {
      const claim = work.store(META).get(CLAIM)
      claim.onsuccess = () => {
        if (claim.result === token) putAll(work, pages, () => work.commit())
        else work.fail(stale())
      }
    })
  }

  async commit(commit: Commit, putLogSeal?: PutLogSeal): Promise<void> {
    let abandoned: boolean
    try {
      abandoned = await this.#flip(commit, putLogSeal)
    } catch (error) {
      if (commit.claim === undefined && !isPannierError(error, 'PANNIER_STALE')) await this.#deleteOrphans(commit)
      throw error
    }
    if (abandoned) {
      await this.claim(TAKEOVER, commit.expectedGeneration, commit.firstNewPageId)
      return this.commit({ ...commit, claim: TAKEOVER }, putLogSeal)
    }
    await this.#sweep(commit)
    keepReserve()
  }

  #add(record: LogRecord, durability: Durability, put: PutRecord = putAlone): Promise<void> {
    const mayHaveGap = this.#seen.newest < record.sequence - 1 || this.#connection.identity === undefined
    // Of the first record the fence asks for the keyring, too.
    return this.#connection.write(record.sequence === 1 ? [LOG, META] : [LOG], durability, (work) => {
      const settle = put(work, record, mayHaveGap)
      return () => {
        settle()
        this.#seen.newest = record.sequence
      }
    })
  }

  /** The commit itself. True if it did nothing, as it has no claim and there is an abandoned one to be taken over. */
  async #flip(commit: Commit, putLogSeal: PutLogSeal | undefined): Promise<boolean> {
    const { record, firstNewPageId, free } = commit
    const { generation, sequence, bytes } = commit.meta
    let abandoned = false
    await this.write([META, PAGES, LOG], commit.durability, (work) => {
      const [metas, pages] = [work.store(META), work.store(PAGES)]
      const current = requestMeta(work)
      const newest = record && requestNewest(work)
      const keyring = putLogSeal ? undefined : requestKeyring(work, record)
      const claim = metas.get(CLAIM)
      claim.onsuccess = () => {
        const fenced = generationOf(current) !== commit.expectedGeneration || (newest && keyOf(newest) !== sequence - 1)
        if (fenced || keyring?.result || (commit.claim !== undefined && claim.result !== commit.claim))
          return work.fail(stale())
        abandoned = claim.result !== commit.claim
        if (abandoned) return
        if (commit.claim === undefined) pages.delete(IDBKeyRange.lowerBound(firstNewPageId))
        else metas.delete(CLAIM)
        if (this.#sweptGeneration !== commit.expectedGeneration) deleteAll(pages, current.result?.freed ?? [])
        putAll(work, commit.pages, addRecord)
      }
      const addRecord = (): void => {
        if (!record) return putMeta()
        const log = work.store(LOG)
        log.add(exact(record.bytes), record.sequence).onsuccess = () => {
          if (putLogSeal === undefined) putMeta()
          else putLogSeal(log, commit).onsuccess = putMeta
        }
      }
      const putMeta = (): void =>
        last(work, metas.put({ generation, sequence, bytes: exact(bytes), freed: free }, CURRENT))
    })
    if (record && !abandoned) this.#seen.newest = record.sequence
    return abandoned
  }

  /** Deletes what a commit made superfluous. If it fails, the next commit does it. */
  async #sweep({ free, meta }: Commit): Promise<void> {
    try {
      await this.#connection.write([PAGES, LOG], 'relaxed', (work) => {
        deleteAll(work.store(PAGES), free)
        last(work, work.store(LOG).delete(IDBKeyRange.upperBound(meta.sequence, true)))
        return nothing
      })
      this.#sweptGeneration = meta.generation
    } catch {
      // The commit is durable all the same.
    }
  }

  /** What Firefox may have put of a commit that failed. The next commit does it if this fails, too. */
  async #deleteOrphans({ expectedGeneration, firstNewPageId }: Commit): Promise<void> {
    const orphans = this.#connection.write([META, PAGES], 'relaxed', (work) => {
      const current = requestMeta(work)
      const claim = work.store(META).get(CLAIM)
      claim.onsuccess = () => {
        if (generationOf(current) !== expectedGeneration || claim.result !== undefined) return
        last(work, work.store(PAGES).delete(IDBKeyRange.lowerBound(firstNewPageId)))
      }
      return nothing
    })
    await orphans.catch(nothing)
  }

  /** Used by log-seal.ts too. */
  async write(stores: readonly string[], durability: Durability, body: (work: Work) => void): Promise<void> {
    try {
      await this.#connection.write(stores, durability, (work) => {
        body(work)
        return nothing
      })
    } catch (error) {
      if (isPannierError(error, 'PANNIER_QUOTA_EXCEEDED')) await this.#relieve()
      throw error
    }
  }

  /**
   * A transaction that needs no room. After it ran out of room Firefox lets the next transaction only delete, and tidies up its
   * files after that one, which often makes room. Chromium counts what is used again.
   */
  async #relieve(): Promise<void> {
    const relief = this.#connection.write([PAGES], 'relaxed', (work) => {
      last(work, work.store(PAGES).delete(0))
      return nothing
    })
    await relief.catch(nothing)
  }
}

/**
 * The transaction is told to end before the answer to the fence is known, which saves a tenth to a fifth of its time. If
 * the answer then is that the log has newer records, this one has been put in vain, where it harms nobody: `add` never
 * replaces a record, so this sequence was free, so it lies below all that the log retains (this handle has seen a
 * record that reaches it: there is no gap). There no handle reads, and the next commit deletes it.
 */
function putAlone(work: Work, record: LogRecord, mayHaveGap: boolean): () => void {
  const { sequence, bytes } = record
  const log = work.store(LOG)
  if (mayHaveGap || sequence === 1) {
    const keyring = requestKeyring(work, record)
    const newest = requestNewest(work)
    newest.onsuccess = () => {
      if (keyOf(newest) !== sequence - 1 || keyring?.result) return work.fail(stale())
      log.add(exact(bytes), sequence)
      work.commit()
    }
    return nothing
  }
  const newer = requestNewer(log, sequence)
  log.add(exact(bytes), sequence)
  work.commit()
  return () => assertNone(newer)
}

/** For a record that comes without a log seal: another handle may have put a keyring in an empty database. */
function requestKeyring(work: Work, record?: LogRecord): IDBRequest<IDBValidKey | undefined> | undefined {
  return record?.sequence === 1 ? work.store(META).getKey(KEYRING) : undefined
}

/** Requests the first key at or after a sequence. */
export function requestNewer(log: IDBObjectStore, sequence: CommitSequence): IDBRequest<IDBValidKey | undefined> {
  return log.getKey(IDBKeyRange.lowerBound(sequence))
}

/** The fence: throws if there is a record. */
export function assertNone(newer: IDBRequest<IDBValidKey | undefined>): void {
  if (newer.result !== LOG_END) throw stale()
}

/** Requests the key of the newest log record. */
export function requestNewest(work: Work): IDBRequest<IDBCursor | null> {
  return work.store(LOG).openKeyCursor(IDBKeyRange.upperBound(LOG_END, true), 'prev')
}

/** Pulls and puts pages as fast as the engine takes them; `next` runs when all have succeeded. */
function putAll(work: Work, pages: Iterable<Page>, next: () => void): void {
  const store = work.store(PAGES)
  const iterator = pages[Symbol.iterator]()
  let underWay = 0
  let ended = false
  const pull = (): void => {
    try {
      while (!ended && underWay < PUTS_AT_ONCE) {
        const { done, value } = iterator.next()
        ended = done === true
        if (done) break
        underWay++
        store.put(exact(value.bytes), value.id).onsuccess = settle
      }
    } catch (error) {
      return work.fail(error)
    }
    if (underWay === 0) next()
  }
  const settle = (): void => {
    underWay--
    // Half of them at a time.
    if (underWay === 0 || (!ended && underWay === PUTS_AT_ONCE / 2)) pull()
  }
  pull()
}

/** Consecutive ids are deleted as one range, which is as fast as one record. */
function deleteAll(pages: IDBObjectStore, ids: readonly PageId[]): void {
  const sorted = [...ids].sort((a, b) => a - b)
  for (let start = 0, end = 1; start < sorted.length; start = end++) {
    while (sorted[end] === sorted[end - 1]! + 1) end++
    pages.delete(IDBKeyRange.bound(sorted[start], sorted[end - 1]))
  }
}

/** The last request of a transaction: when it has succeeded, all have. */
export function last(work: Work, request: IDBRequest): void {
  request.onsuccess = () => work.commit()
}

/** IndexedDB stores the whole buffer below a view. */
export function exact(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice()
}

export function stale(): PannierError {
  return new PannierError('PANNIER_STALE', 'Another handle has written since.')
}

function nothing(): void {}
