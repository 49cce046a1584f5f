/**
 * A handle on a database that the handles of one process share, and the fences of the page store contract. A backend
 * makes one handle for each `open`.
 */
import type { Generation, PageId, CommitSequence } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import type { MaybePromise } from '../base/async.ts'
import type {
  Commit,
  Durability,
  GoneListener,
  KnownState,
  LogRecord,
  Page,
  PageArrived,
  PageStore,
  StoreState,
} from './page-store.ts'
import { sameBytes } from '../codec/bytes.ts'

/** A database of a backend, without the handle that is closed for itself. */
export interface SharedDatabase extends Omit<PageStore, 'close' | 'onGone'> {
  /** True after the database was closed or destroyed: no handle can use it any more. */
  readonly closed: boolean
}

/** Handles that are open. */
const goneListeners = new WeakMap<SharedDatabase, Map<Handle, GoneListener>>()

/** Tells the handles of a database that was destroyed. */
export function tellDestroyed(database: SharedDatabase): void {
  for (const tell of goneListeners.get(database)?.values() ?? []) tell(destroyedError())
}

function destroyedError(): PannierError {
  return new PannierError('PANNIER_CLOSED', 'The database was closed or destroyed.')
}

/** A page store over a database that others may use too. After `close` each call fails with PANNIER_CLOSED. */
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

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void> {
    return this.use().append(record, durability, logSeal)
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

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void> {
    return this.use().putKeyring(expected, keyring, durability)
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void> {
    return this.use().replacePages(keyring, pages)
  }

  listPages(): MaybePromise<readonly PageId[]> {
    return this.use().listPages()
  }

  usedBytes(): MaybePromise<number | undefined> {
    return this.use().usedBytes()
  }

  onGone(listener: GoneListener): void {
    let listeners = goneListeners.get(this.database)
    if (listeners === undefined) goneListeners.set(this.database, (listeners = new Map()))
    listeners.set(this, listener)
  }

  close(): MaybePromise<void> {
    if (this.closed) return
    this.closed = true
    goneListeners.get(this.database)?.delete(this)
    return this.leave()
  }

  private use(): SharedDatabase {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', 'The handle is closed.')
    if (this.database.closed) throw destroyedError()
    return this.database
  }
}

/** A page store over a database that others may use too. `leave` is called once, when it is closed. */
export function handleOn(database: SharedDatabase, leave: () => MaybePromise<void>): PageStore {
  return new Handle(database, leave)
}

// The fences of the page store contract: a handle that has not seen the newest state is refused.

/** `newest`: sequence of the newest record in the log, 0 for an empty log. */
export function checkNext(newest: number, sequence: CommitSequence): void {
  if (newest !== sequence - 1) throw stale(`the newest log record is ${newest}, not ${sequence - 1}`)
}

/** A handle that writes the first record without a log seal has not seen a newer keyring. */
export function checkFirst(
  { sequence }: LogRecord,
  logSeal: Uint8Array | undefined,
  keyring: Uint8Array | undefined,
): void {
  if (sequence === 1 && logSeal === undefined && keyring !== undefined) throw stale('there is a keyring')
}

export function checkGeneration(generation: number, expected: Generation): void {
  if (generation !== expected) throw stale(`the meta record has generation ${generation}, not ${expected}`)
}

export function checkClaim(claimed: string | null | undefined, token: string): void {
  if (claimed !== token) throw stale('another handle has taken over the staging of pages')
}

/** `isEmpty`: there is no meta record and no log; only then there may be a first keyring. */
export function checkKeyring(stored: Uint8Array | undefined, expected: Uint8Array | undefined, isEmpty = false): void {
  const isFirst = expected === undefined
  if (!sameBytes(stored, expected) || (isFirst && !isEmpty)) throw stale('the keyring is another one')
}

export function stale(what: string): PannierError {
  return new PannierError('PANNIER_STALE', `Another handle has written since: ${what}.`)
}
