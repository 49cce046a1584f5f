/**
 * The calls of the page store contract that write.
 *
 * IndexedDB promises that a transaction happens whole or not at all. Firefox breaks this promise when it runs out of
 * room. It undoes what was done, but then carries out, one by one, requests that were issued before the failure was
 * known. So a request is issued together with others only if it does no harm alone: putting pages at unused ids, or
 * deleting pages without references. A request that changes the state comes last, after all before it have succeeded.
 * Freeing pages and truncating the log follow the commit, in their own transaction.
 */
import type { MaybePromise } from '../../base/async.ts'
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { isPannierError } from '../../base/errors.ts'
import type { Commit, Durability, LogRecord, Page } from '../page-store.ts'
import { type Connection, type Work, CURRENT, generationOf, requestMeta } from './connection.ts'
import { operationError } from './errors.ts'
import { addRecord, exact, requestJudgement, stale, whenNext, type Placement, type Seen } from './log.ts'
import { KEYRING, LOG, META, PAGES } from './open.ts'
import { keepReserve, releaseReserve, writeWhenThereIsRoom } from './quota-reserve.ts'

/** A key in `meta`. */
const CLAIM = 'claim'

/** Stands in for a claim when a commit without one meets one that was abandoned. */
const TAKEOVER = 'takeover'

/** The number of puts that run at a time: enough to keep the engine busy, and few enough not to fill the memory. */
const PUTS_AT_ONCE = 64

/** Log records up to this size may use the reserve: those of deletions, a thousand at a time. */
const RESERVED_RECORD_BYTES_MAX = 64 * 1024

/**
 * Puts a log record, and perhaps more with it; what it gives is called when the transaction has completed. `lastKey`: of the
 * record that it follows, if this handle has seen that; undefined: it has to look.
 */
export type PutRecord = (work: Work, record: LogRecord, lastKey: number | undefined) => () => Placement

/** Requests that the log seal of a commit be put; the request given is the last one. */
export type PutLogSeal = (log: IDBObjectStore, commit: Commit) => IDBRequest

export class IndexedDbPageWriter {
  readonly #connection: Connection
  readonly #seen: Seen
  /** The generation whose freed pages are deleted. */
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
    const { sequence } = record
    const { newest, key } = this.#seen
    const hasSeen = newest === sequence - 1 && this.#connection.identity !== undefined
    // Of the first record the fence asks for the keyring, too.
    return this.#connection.write(sequence === 1 ? [LOG, META] : [LOG], durability, (work) => {
      const settle = put(work, record, hasSeen ? key : undefined)
      return () => this.#added(sequence, settle())
    })
  }

  /** Judges a record that was added. */
  #added(sequence: CommitSequence, { request, expected }: Placement): MaybePromise<void> {
    const key = request.result as number
    if (key !== expected) return this.#judge(sequence, key)
    this.#seen.newest = sequence
    this.#seen.key = key
  }

  /** Another handle has appended since this one looked. */
  async #judge(sequence: CommitSequence, key: number): Promise<void> {
    this.#seen.newest = -1
    this.ownLogSeal = undefined
    const counts = await this.#connection.read([LOG], (work) => requestJudgement(work, key, sequence))
    // It is gone: the log was truncated before anybody could tell.
    if (counts === undefined) throw operationError(null)
    if (!counts) throw stale()
  }

  /** The commit itself. True if it did nothing, as it has no claim and there is an abandoned one to be taken over. */
  async #flip(commit: Commit, putLogSeal: PutLogSeal | undefined): Promise<boolean> {
    const { record, firstNewPageId, free } = commit
    const { generation, sequence, bytes } = commit.meta
    let abandoned = false
    let lastKey = 0
    await this.write([META, PAGES, LOG], commit.durability, (work) => {
      const [metas, pages] = [work.store(META), work.store(PAGES)]
      const current = requestMeta(work)
      const keyring = putLogSeal ? undefined : requestKeyring(work, record)
      const claim = metas.get(CLAIM)
      claim.onsuccess = () => {
        if (!record) return flip()
        whenNext(work, record, undefined, (key) => {
          lastKey = key
          flip()
        })
      }
      const flip = (): void => {
        const fenced = generationOf(current) !== commit.expectedGeneration
        if (fenced || keyring?.result || (commit.claim !== undefined && claim.result !== commit.claim))
          return work.fail(stale())
        abandoned = claim.result !== commit.claim
        if (abandoned) return
        if (commit.claim === undefined) pages.delete(IDBKeyRange.lowerBound(firstNewPageId))
        else metas.delete(CLAIM)
        if (this.#sweptGeneration !== commit.expectedGeneration) deleteAll(pages, current.result?.freed ?? [])
        putAll(work, commit.pages, putRecord)
      }
      const putRecord = (): void => {
        if (!record) return putMeta()
        addRecord(work, record, lastKey).request.onsuccess = () => {
          if (putLogSeal === undefined) putMeta()
          else putLogSeal(work.store(LOG), commit).onsuccess = putMeta
        }
      }
      const putMeta = (): void =>
        last(work, metas.put({ generation, sequence, bytes: exact(bytes), freed: free }, CURRENT))
    })
    if (record && !abandoned) Object.assign(this.#seen, { newest: sequence, key: lastKey + 1 } satisfies Seen)
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

  /** Deletes pages that Firefox may have put of a commit that failed. The next commit does it if this fails, too. */
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

function putAlone(work: Work, record: LogRecord, lastKey: number | undefined): () => Placement {
  const keyring = requestKeyring(work, record)
  let placement: Placement
  whenNext(work, record, lastKey, (key) => {
    if (keyring?.result) return work.fail(stale())
    placement = addRecord(work, record, key)
    work.commit()
  })
  return () => placement
}

/** For a record that comes without a log seal: another handle may have put a keyring in an empty database. */
function requestKeyring(work: Work, record?: LogRecord): IDBRequest<IDBValidKey | undefined> | undefined {
  return record?.sequence === 1 ? work.store(META).getKey(KEYRING) : undefined
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

function nothing(): void {}
