/** The calls of the page store contract as IndexedDB transactions. Those that write are in page-writer.ts. */
import type { Generation, PageId } from '../../base/brand.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  PageArrived,
  PageStore,
  StoreState,
} from '../page-store.ts'
import { type Connection, generationOf, keyOf, requestMeta, type StoredMeta } from './connection.ts'
import { KEYRING, IDENTITY, LOG, LOG_END, META, PAGES } from './open.ts'
import { putKeyring, putLogSealOf, putWithLogSeal, replacePages } from './log-seal.ts'
import { IndexedDbPageWriter, type Seen } from './page-writer.ts'
import { requestPages } from './read-policy.ts'

export class IndexedDbPageStore implements PageStore {
  readonly #connection: Connection
  readonly #seen: Seen = { newest: -1 }
  readonly #writer: IndexedDbPageWriter

  constructor(connection: Connection) {
    this.#connection = connection
    this.#writer = new IndexedDbPageWriter(connection, this.#seen)
  }

  read(known?: KnownState): Promise<StoreState> {
    return this.#connection.read([META, LOG], (work) => {
      const log = work.store(LOG)
      const current = requestMeta(work)
      const identity = work.store(META).get(IDENTITY)
      const keyring = work.store(META).get(KEYRING) as IDBRequest<Uint8Array | undefined>
      let records = requestLog(log, known?.sequence ?? -1)
      current.onsuccess = () => {
        // The pages lag behind what was known of an earlier generation: more of the log is news than was asked for.
        const { sequence = 0 } = current.result ?? {}
        if (known && known.generation !== generationOf(current) && sequence < known.sequence) {
          records = requestLog(log, sequence)
        }
      }
      return () => {
        this.#connection.identity = identity.result
        const { all, logSeal } = records()
        const newest = all.at(-1)?.sequence ?? -1
        this.#seen.newest = known ? Math.max(this.#seen.newest, newest) : newest
        const meta = current.result && withoutFreed(current.result)
        const sequence = meta?.sequence ?? 0
        const after = known?.generation === generationOf(current) ? Math.max(sequence, known.sequence) : sequence
        return { meta, log: all.filter((record) => record.sequence > after), keyring: keyring.result, logSeal }
      }
    })
  }

  readPages(ids: readonly PageId[], arrived?: PageArrived): Promise<(Uint8Array | undefined)[]> {
    return this.#connection.read([PAGES], (work) => {
      const pages = requestPages(work.store(PAGES), ids, () => work.finish(), arrived)
      return () => pages
    })
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): Promise<void> {
    return this.#writer.append(record, durability, logSeal && putWithLogSeal(this.#writer, logSeal))
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): Promise<void> {
    return this.#writer.claim(token, expectedGeneration, firstNewPageId)
  }

  stage(token: string, pages: readonly Page[]): Promise<void> {
    return this.#writer.stage(token, pages)
  }

  commit(commit: Commit): Promise<void> {
    return this.#writer.commit(commit, commit.logSeal && putLogSealOf)
  }

  putKeyring(...call: Parameters<PageStore['putKeyring']>): Promise<void> {
    return putKeyring(this.#writer, ...call)
  }

  replacePages(...call: Parameters<PageStore['replacePages']>): Promise<void> {
    return replacePages(this.#writer, ...call)
  }

  /** Only integrity checks ask. */
  listPages(): Promise<PageId[]> {
    return this.#connection.read([META, PAGES], (work) => {
      const current = requestMeta(work)
      const keys = work.store(PAGES).getAllKeys() as IDBRequest<IDBValidKey[]>
      return () => {
        const freed = new Set(current.result?.freed)
        return (keys.result as PageId[]).filter((id) => !freed.has(id))
      }
    })
  }

  /** Browsers tell only what all databases of an origin use together. */
  usedBytes(): undefined {
    this.#connection.check()
    return undefined
  }

  close(): void {
    this.#connection.close()
  }
}

function withoutFreed({ generation, sequence, bytes }: StoredMeta): MetaRecord {
  return { generation, sequence, bytes }
}

interface FoundLog {
  readonly all: readonly LogRecord[]
  readonly logSeal: Uint8Array | undefined
}

/**
 * Requests the records after a sequence, and the log seal, which is the last of what stands behind them; the function
 * returned gives them when the requests have succeeded. Keys are only asked for when they are not dense. They are
 * dense, except for failed puts of stale handles.
 */
function requestLog(log: IDBObjectStore, after: number): () => FoundLog {
  const range = IDBKeyRange.bound(after, LOG_END, true, true)
  const first = log.getKey(range) as IDBRequest<number | undefined>
  const last = log.openKeyCursor(range, 'prev')
  const values = log.getAll(IDBKeyRange.lowerBound(after, true)) as IDBRequest<(Uint8Array | 0)[]>
  let records: Uint8Array[]
  let keys: IDBRequest<unknown[]> | undefined
  values.onsuccess = () => {
    records = values.result.slice(0, values.result.indexOf(0)) as Uint8Array[]
    if (keyOf(last) - (first.result ?? 1) !== records.length - 1) keys = log.getAllKeys(range) as IDBRequest<unknown[]>
  }
  return () => ({
    all: records.map((bytes, index) => ({
      sequence: (keys === undefined ? first.result! + index : keys.result[index]) as LogRecord['sequence'],
      bytes,
    })),
    logSeal: (values.result.at(-1) as Uint8Array | 0) || undefined,
  })
}
