/** What pages, their workers, and workers of one another say. Everything is plain data, so that it can be posted. */
import type { PageId } from '../../base/brand.ts'
import { PannierError, type ErrorCode } from '../../base/errors.ts'
import type { Commit, Page } from '../page-store.ts'
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
  | 'putHeader'
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
  return { code: error instanceof PannierError ? error.code : 'PANNIER_IO', message }
}

export function receivedError({ code, message }: PostedError): PannierError {
  return new PannierError(code, message)
}
