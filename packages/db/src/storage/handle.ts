/** A handle on a database that handles of one process share. A backend makes one of them for each `open`. */
import type { Generation, PageId } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import type {
  Commit,
  Durability,
  KnownState,
  LogRecord,
  Page,
  PageArrived,
  PageStore,
  StoreState,
} from './page-store.ts'

export interface SharedDatabase extends Omit<PageStore, 'close'> {
  /** It was closed or destroyed: no handle can use it any more. */
  readonly closed: boolean
}

export class Handle implements PageStore {
  private readonly database: SharedDatabase
  private readonly leave: () => MaybePromise<void>
  private closed = false

  /** `leave`: called once, when the handle is closed. */
  constructor(database: SharedDatabase, leave: () => MaybePromise<void> = () => {}) {
    this.database = database
    this.leave = leave
  }

  read(known?: KnownState): MaybePromise<StoreState> {
    return this.use().read(known)
  }

  readPages(ids: readonly PageId[], arrived?: PageArrived): MaybePromise<readonly (Uint8Array | undefined)[]> {
    return this.use().readPages(ids, arrived)
  }

  append(record: LogRecord, durability: Durability, head?: Uint8Array): MaybePromise<void> {
    return this.use().append(record, durability, head)
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void> {
    return this.use().claim(token, expectedGeneration, firstNewPageId)
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    return this.use().stage(token, pages)
  }

  commit(commit: Commit): MaybePromise<void> {
    return this.use().commit(commit)
  }

  putHeader(expected: Uint8Array | undefined, header: Uint8Array, durability: Durability): MaybePromise<void> {
    return this.use().putHeader(expected, header, durability)
  }

  replacePages(header: Uint8Array, pages: readonly Page[]): MaybePromise<void> {
    return this.use().replacePages(header, pages)
  }

  listPages(): MaybePromise<readonly PageId[]> {
    return this.use().listPages()
  }

  usedBytes(): MaybePromise<number | undefined> {
    return this.use().usedBytes()
  }

  close(): MaybePromise<void> {
    if (this.closed) return
    this.closed = true
    return this.leave()
  }

  private use(): SharedDatabase {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', 'This handle is closed.')
    if (this.database.closed) throw new PannierError('PANNIER_CLOSED', 'The database was closed or destroyed.')
    return this.database
  }
}
