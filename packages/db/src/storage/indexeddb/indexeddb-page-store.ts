/** The calls of the page store contract as IndexedDB transactions. Those that write are in page-writer.ts. */
import type { Generation, PageId } from '../../base/brand.ts'
import type {
  Commit,
  Durability,
  GoneListener,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  PageArrived,
  PageStore,
  StoreState,
} from '../page-store.ts'
import { type Connection, type StoredMeta, type Work, generationOf, keyOf, requestMeta } from './connection.ts'
import { countingRecords, newestOf, type Seen } from './log.ts'
import { KEYRING, IDENTITY, LOG, LOG_END, META, PAGES } from './open.ts'
import { putKeyring, putLogSealOf, putWithLogSeal, replacePages } from './log-seal.ts'
import { IndexedDbPageWriter } from './page-writer.ts'
import { requestPages } from './read-policy.ts'

export class IndexedDbPageStore implements PageStore {
  readonly #connection: Connection
  readonly #seen: Seen = { newest: -1, key: 0 }
  readonly #writer: IndexedDbPageWriter

  constructor(connection: Connection) {
    this.#connection = connection
    this.#writer = new IndexedDbPageWriter(connection, this.#seen)
  }

  read(known?: KnownState): Promise<StoreState> {
    return this.#connection.read([META, LOG], (work) => {
      const current = requestMeta(work)
      const identity = work.store(META).get(IDENTITY)
      const keyring = work.store(META).get(KEYRING) as IDBRequest<Uint8Array | undefined>
      let read = requestLog(work, known?.sequence ?? -1)
      current.onsuccess = () => {
        // The pages lag behind what was known of an earlier generation: more of the log is news than was asked for.
        const { sequence = 0 } = current.result ?? {}
        if (known && known.generation !== generationOf(current) && sequence < known.sequence) {
          read = requestLog(work, sequence)
        }
      }
      return () => {
        this.#connection.identity = identity.result
        const found = read()
        // A part of the log may hold only a record that does not count.
        this.#seen.newest = found.after > 0 ? -1 : newestOf(found.stored)
        this.#seen.key = found.lastKey
        const meta = current.result && withoutFreed(current.result)
        const sequence = meta?.sequence ?? 0
        const after = known?.generation === generationOf(current) ? Math.max(sequence, known.sequence) : sequence
        return { meta, log: countingRecords(found.stored, after), keyring: keyring.result, logSeal: found.logSeal }
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

  /** Lists the pages. Only integrity checks ask. */
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

  onGone(listener: GoneListener): void {
    this.#connection.onGone = listener
  }

  close(): void {
    this.#connection.close()
  }
}

function withoutFreed({ generation, sequence, bytes }: StoredMeta): MetaRecord {
  return { generation, sequence, bytes }
}

interface FoundLog {
  /** Records with keys after this were asked for. */
  readonly after: number
  readonly stored: readonly LogRecord[]
  readonly logSeal: Uint8Array | undefined
  /** 0: the log is empty. */
  readonly lastKey: number
}

/**
 * Requests the records with keys after a sequence, and the log seal, which is the last of what stands behind them. The
 * function returned gives them when the requests have succeeded.
 */
function requestLog(work: Work, after: number): () => FoundLog {
  const log = work.store(LOG)
  const last = log.openKeyCursor(IDBKeyRange.upperBound(LOG_END, true), 'prev')
  const values = log.getAll(IDBKeyRange.lowerBound(after, true)) as IDBRequest<(LogRecord | 0 | Uint8Array)[]>
  return () => {
    const end = values.result.indexOf(0)
    return {
      after,
      stored: values.result.slice(0, end) as LogRecord[],
      logSeal: values.result.slice(end + 1).at(-1) as Uint8Array | undefined,
      lastKey: keyOf(last),
    }
  }
}
