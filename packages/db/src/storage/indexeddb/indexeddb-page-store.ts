/** The calls of the page store contract as IndexedDB transactions: those that read. page-writer.ts has the others. */
import { loadedModule, moduleOnDemand } from '../../base/lazy-module.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/async.ts'
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
import type { Connection } from './connection.ts'
import { HEADER, IDENTITY, LOG, LOG_END, META, PAGES } from './open.ts'
import type { IndexedDbPageWriter, Seen } from './page-writer.ts'
import { requestPages } from './read-policy.ts'
import { generationOf, keyOf, requestMeta, type StoredMeta } from './stored-meta.ts'

/** Whoever only reads does without. */
const pageWriting = moduleOnDemand(() => import('./page-writer.ts'))
const headerWriting = moduleOnDemand(() => import('./header-writer.ts'))

export class IndexedDbPageStore implements PageStore {
  readonly #connection: Connection
  readonly #seen: Seen = { newest: -1 }
  #writer: IndexedDbPageWriter | undefined

  constructor(connection: Connection) {
    this.#connection = connection
    // In the background, so that it is there when it is needed; whether it can be loaded is the matter of those who need it.
    const loading = pageWriting()
    if (isPromise(loading)) loading.catch(() => {})
  }

  read(known?: KnownState): Promise<StoreState> {
    return this.#connection.read([META, LOG], (work) => {
      const log = work.store(LOG)
      const current = requestMeta(work)
      const identity = work.store(META).get(IDENTITY)
      const header = work.store(META).get(HEADER) as IDBRequest<Uint8Array | undefined>
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
        const { all, head } = records()
        const newest = all.at(-1)?.sequence ?? -1
        this.#seen.newest = known ? Math.max(this.#seen.newest, newest) : newest
        const meta = current.result && withoutFreed(current.result)
        const sequence = meta?.sequence ?? 0
        const after = known?.generation === generationOf(current) ? Math.max(sequence, known.sequence) : sequence
        return { meta, log: all.filter((record) => record.sequence > after), header: header.result, head }
      }
    })
  }

  readPages(ids: readonly PageId[], arrived?: PageArrived): Promise<(Uint8Array | undefined)[]> {
    return this.#connection.read([PAGES], (work) => {
      const pages = requestPages(work.store(PAGES), ids, () => work.finish(), arrived)
      return () => pages
    })
  }

  append(record: LogRecord, durability: Durability, head?: Uint8Array): MaybePromise<void> {
    return this.#writing((writer) =>
      head === undefined
        ? writer.append(record, durability)
        : andThen(headerWriting(), ({ putWithHead }) => writer.append(record, durability, putWithHead(writer, head))),
    )
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void> {
    return this.#writing((writer) => writer.claim(token, expectedGeneration, firstNewPageId))
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    return this.#writing((writer) => writer.stage(token, pages))
  }

  commit(commit: Commit): MaybePromise<void> {
    return this.#writing(async (writer) => writer.commit(commit, commit.head && (await headerWriting()).putHeadOf))
  }

  putHeader(...call: Parameters<PageStore['putHeader']>): MaybePromise<void> {
    return this.#writing(async (writer) => (await headerWriting()).putHeader(writer, ...call))
  }

  replacePages(...call: Parameters<PageStore['replacePages']>): MaybePromise<void> {
    return this.#writing(async (writer) => (await headerWriting()).replacePages(writer, ...call))
  }

  async listPages(): Promise<PageId[]> {
    const { listPages } = await loadedModule(import('./list-pages.ts'))
    return listPages(this.#connection)
  }

  /** Browsers tell only what all databases of an origin use together. */
  usedBytes(): undefined {
    this.#connection.check()
    return undefined
  }

  close(): void {
    this.#connection.close()
  }

  #writing(write: (writer: IndexedDbPageWriter) => MaybePromise<void>): MaybePromise<void> {
    if (this.#writer) return write(this.#writer)
    return andThen(pageWriting(), ({ IndexedDbPageWriter }) => {
      this.#writer ??= new IndexedDbPageWriter(this.#connection, this.#seen)
      return write(this.#writer)
    })
  }
}

function withoutFreed({ generation, sequence, bytes }: StoredMeta): MetaRecord {
  return { generation, sequence, bytes }
}

interface FoundLog {
  readonly all: readonly LogRecord[]
  readonly head: Uint8Array | undefined
}

/**
 * Requests the records after a sequence, and the head, which is the last of what stands behind them; the function
 * returned gives them when the requests have succeeded. Keys are only asked for when they are not dense, as they are but for what stale handles
 * have put in vain.
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
    head: (values.result.at(-1) as Uint8Array | 0) || undefined,
  })
}
