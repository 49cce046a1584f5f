/**
 * The connection of one handle, its transactions, and the meta record, which they read most.
 *
 * A connection ends in three ways. We close it: for good. The database is being destroyed (`versionchange`): it closes
 * at once and for good, so that nobody is blocked. The browser closes it (`close`: the storage process died, data was
 * cleared, the disk failed): it is opened again, unless the database is gone.
 */
import type { MaybePromise } from '../../base/async.ts'
import { isPannierError } from '../../base/errors.ts'
import { closedError, operationError } from './errors.ts'
import { IDENTITY, META, openDatabase } from './open.ts'
import type { GoneListener, MetaRecord } from '../page-store.ts'
import type { PageId } from '../../base/brand.ts'

/** The work of a transaction under way. */
export interface Work {
  store(name: string): IDBObjectStore
  /** Takes everything back, and makes the transaction fail with this error. */
  fail(error: unknown): void
  /**
   * Ends the transaction without another round trip. Call it only when the last request has succeeded. After this call,
   * Firefox completes a transaction even if requests fail, except the last one if no handler of the same transaction
   * made the call. Other browsers roll back.
   */
  commit(): void
  /** Takes the result now, as all has been read: the end of the transaction is not waited for. */
  finish(): void
}

export class Connection {
  /** The value of `IDENTITY` in `meta`, once it was read. Then a connection is only ever replaced by one to the same. */
  identity: unknown
  /** Is called when the database is gone. */
  onGone: GoneListener = () => {}
  readonly #name: string
  readonly #openMsMax: number
  #database: IDBDatabase | undefined
  #opening: Promise<IDBDatabase> | undefined
  /** Why it is closed for good. */
  #closed: string | undefined

  constructor(name: string, openMsMax: number) {
    this.#name = name
    this.#openMsMax = openMsMax
  }

  async open(): Promise<void> {
    this.#adopt(await openDatabase(this.#name, true, this.#openMsMax))
  }

  close(): void {
    this.#end('The handle is closed.')
  }

  /** Throws once it is closed for good. */
  check(): void {
    if (this.#closed !== undefined) throw closedError(this.#closed)
  }

  /** Reads as `write` does. What reads may be repeated, so it is, once: the connection may have been lost on the way. */
  async read<T>(stores: readonly string[], body: (work: Work) => () => T): Promise<T> {
    try {
      return await this.#transact(stores, 'readonly', undefined, body)
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_IO_FAILED')) throw error
      return this.#transact(stores, 'readonly', undefined, body)
    }
  }

  /**
   * Issues requests in `body`; when the transaction has completed, resolves with the result of what `body` returned. All
   * requests are issued in `body` or in handlers of requests, which run within the transaction.
   */
  write<T>(
    stores: readonly string[],
    durability: IDBTransactionDurability,
    body: (work: Work) => () => MaybePromise<T>,
  ): Promise<T> {
    return this.#transact(stores, 'readwrite', durability, body)
  }

  #transact<T>(
    stores: readonly string[],
    mode: IDBTransactionMode,
    durability: IDBTransactionDurability | undefined,
    body: (work: Work) => () => MaybePromise<T>,
  ): Promise<T> {
    const run = (database: IDBDatabase): Promise<T> =>
      this.#complete(database.transaction(stores, mode, durability && { durability }), body)
    try {
      if (this.#database) return run(this.#database)
    } catch (error) {
      // A connection that turns out to be lost when a transaction begins has done nothing yet: then a new one is tried.
      if ((error as DOMException).name !== 'InvalidStateError') return Promise.reject(this.#failure(error) as Error)
      this.#database = undefined
    }
    return this.#reopened()
      .then(run)
      .catch((error: unknown) => {
        throw this.#failure(error)
      })
  }

  /**
   * Resolves when the transaction has completed, which is later than the success of its last request and says more, or at `finish`.
   * Nothing is awaited before `body` is called: a transaction that has no request yet would end by itself.
   */
  #complete<T>(transaction: IDBTransaction, body: (work: Work) => () => MaybePromise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const failed = (error: unknown): void => reject(this.#failure(error) as Error)
      const fail = (error: unknown): void => {
        failed(error)
        transaction.abort()
      }
      // Of a request that has failed; such errors bubble up to here. Requests that end with the transaction say AbortError.
      let failure: DOMException | null = null
      let result: () => MaybePromise<T>
      const finish = (): void => {
        if (failure) return failed(failure)
        try {
          resolve(result())
        } catch (error) {
          failed(error)
        }
      }
      try {
        result = body({
          store: (name) => transaction.objectStore(name),
          fail,
          commit: () => transaction.commit?.(),
          finish,
        })
      } catch (error) {
        return fail(error)
      }
      // No event comes before this step ends; and the requests are on their way already.
      transaction.oncomplete = finish
      transaction.onerror = (event) => {
        const { error } = event.target as IDBRequest
        if (!failure || failure.name === 'AbortError') failure = error
      }
      transaction.onabort = () => failed(failure && failure.name !== 'AbortError' ? failure : transaction.error)
    })
  }

  #failure(error: unknown): unknown {
    return this.#closed === undefined ? operationError(error) : closedError(this.#closed)
  }

  async #reopened(): Promise<IDBDatabase> {
    this.check()
    this.#opening ??= this.#reopen().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  async #reopen(): Promise<IDBDatabase> {
    const database = await openDatabase(this.#name, false, this.#openMsMax).catch((error: unknown) => {
      if (isPannierError(error, 'PANNIER_CLOSED')) this.#lose()
      throw error
    })
    const identity = await this.#complete(database.transaction(META), (work) => {
      const found = work.store(META).get(IDENTITY)
      return () => found.result as unknown
    })
    this.#adopt(database)
    if (this.identity !== undefined && identity !== this.identity) this.#lose()
    this.check()
    return database
  }

  #adopt(database: IDBDatabase): void {
    this.#database = database
    database.onversionchange = () => this.#lose()
    database.onclose = () => {
      if (this.#database !== database) return
      this.#database = undefined
      // What was cleared has to be known at once; any other failure shows itself to the next call.
      this.#reopened().catch(() => {})
    }
    if (this.#closed !== undefined) this.#end(this.#closed)
  }

  #lose(): void {
    if (this.#closed !== undefined) return
    this.#end(GONE)
    this.onGone(closedError(GONE))
  }

  #end(why: string): void {
    this.#closed ??= why
    this.#database?.close()
    this.#database = undefined
  }
}

const GONE = 'The database was destroyed, or upgraded by a newer version.'

/** The key of the meta record in `meta`. */
export const CURRENT = 'meta'

/** The meta record as it is stored. `freed`: ids that this commit freed. They are deleted soon after, or by the next commit. */
export type StoredMeta = MetaRecord & { readonly freed: readonly PageId[] }

type MetaRequest = IDBRequest<StoredMeta | undefined>

export function requestMeta(work: Work): MetaRequest {
  return work.store(META).get(CURRENT) as MetaRequest
}

export function generationOf(request: MetaRequest): number {
  return request.result?.generation ?? 0
}

/** The number under the cursor; 0 where there is nothing. */
export function keyOf(request: IDBRequest<IDBCursor | null>): number {
  return (request.result?.key as number | undefined) ?? 0
}
