/**
 * The messages between pages, their workers, and workers of other tabs. All are plain data, so that they can be posted.
 */
import type { PageId } from '../../base/brand.ts'
import { PannierError, type ErrorCode } from '../../base/errors.ts'
import type { Commit, GoneListener, Page } from '../page-store.ts'
import type { Put } from './file-database.ts'

/** A call of the page store contract; `open` gives the identity of the database, `put` prepares a large commit. */
export type Method =
  | 'open'
  | 'read'
  | 'readPages'
  | 'append'
  | 'claim'
  | 'stage'
  | 'put'
  | 'drop'
  | 'commit'
  | 'putKeyring'
  | 'replacePages'
  | 'listPages'
  | 'usedBytes'

export interface Call {
  readonly id: number
  readonly method: Method
  readonly parameters: readonly unknown[]
}

export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: PostedError
}

/** The first thing that a page says to its worker: which database. Then calls; `close` is the last. */
export type ToWorker = { readonly join: string } | { readonly destroy: string } | Call | 'close'

/** `closed`: the files are let go. `gone`: another tab has destroyed the database. */
export type FromWorker = Answer | 'closed' | 'gone'

/** Pages in one buffer. */
export interface PackedPages {
  readonly ids: readonly PageId[]
  readonly lengths: readonly number[]
  readonly bytes: Uint8Array
}

export type PostedCommit = Omit<Commit, 'pages'> & { readonly pages: PackedPages; readonly put?: Put }

export function* unpacked({ ids, lengths, bytes }: PackedPages): Generator<Page> {
  let at = 0
  for (const [index, id] of ids.entries()) yield { id, bytes: bytes.subarray(at, (at += lengths[index]!)) }
}

interface PostedError {
  readonly code: ErrorCode
  readonly message: string
}

export function postedError(error: unknown): PostedError {
  const { message } = error as Error
  return { code: error instanceof PannierError ? error.code : 'PANNIER_IO_FAILED', message }
}

/** The contract of a worker; `OwnThread` passes for one. */
export interface FileThread {
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
  postMessage(message: ToWorker, transfer: Transferable[]): void
  terminate(): void
}

/** A page's end of the connection to what reads and writes the files of one database. All handles of the page on it share one. */
export class Link {
  readonly #worker: FileThread
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #calls = 0
  /** The error after which it has ended: why nothing can be asked any more. */
  #ended: PannierError | undefined
  readonly #closed = Promise.withResolvers<void>()
  /** Are called when the database is gone. */
  readonly onGone: GoneListener[] = []

  constructor(first: ToWorker, worker: FileThread) {
    this.#worker = worker
    this.#worker.onmessage = ({ data }) => {
      if (data === 'closed') this.#closed.resolve()
      else if (data === 'gone') this.lose()
      else this.#settle(data)
    }
    this.#worker.onerror = (event) => {
      event.preventDefault()
      // A script that can't be loaded gives an event without a message.
      this.end(event.message === undefined ? noScript() : noWorker(event.message))
      this.#closed.resolve()
    }
    this.#post(first, [])
  }

  /** Asks the worker, which owns the buffers in `transfer` from now on. */
  ask(method: Method, parameters: readonly unknown[], transfer: Transferable[] = []): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const id = ++this.#calls
    const promise = this.answer(id)
    this.#post({ id, method, parameters }, transfer)
    return promise
  }

  /** The answer to the call with that number. */
  answer(id: number): Promise<unknown> {
    const asked = Promise.withResolvers<unknown>()
    this.#waiting.set(id, asked)
    return asked.promise
  }

  /** Resolves when the files are let go. */
  async close(): Promise<void> {
    this.end(new PannierError('PANNIER_CLOSED', 'The handle is closed.'))
    this.#post('close', [])
    await this.#closed.promise
    this.#worker.terminate()
  }

  terminate(): void {
    this.#worker.terminate()
    this.#closed.resolve()
  }

  /** The database was destroyed. */
  lose(): void {
    const why = new PannierError('PANNIER_CLOSED', 'The database was destroyed.')
    this.end(why)
    for (const tell of this.onGone) tell(why)
  }

  end(why: PannierError): void {
    this.#ended ??= why
    for (const asked of this.#waiting.values()) asked.reject(this.#ended)
    this.#waiting.clear()
  }

  #settle({ id, value, error }: Answer): void {
    const asked = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) asked?.resolve(value)
    else asked?.reject(new PannierError(error.code, error.message))
  }

  #post(message: ToWorker, transfer: Transferable[]): void {
    this.#worker.postMessage(message, transfer)
  }
}

/** `details.script` is 'missing': somebody who deploys the page can mend it. */
function noScript(): PannierError {
  const message =
    "The script of the worker for files can't be loaded: is it served, as JavaScript? With Vite 6 and 7 put " +
    "`optimizeDeps: { exclude: ['pannier'] }` into vite.config; with other bundlers see opfs({ worker })."
  return new PannierError('PANNIER_UNAVAILABLE', message, { details: { script: 'missing' } })
}

export function noWorker(cause: unknown): PannierError {
  const message = 'The worker for files failed or did not start. See opfs({ worker }).'
  return new PannierError('PANNIER_UNAVAILABLE', message, { cause })
}
