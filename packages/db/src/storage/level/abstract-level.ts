/**
 * The part of an abstract-level database that the level storage needs: classic-level, memory-level and their sublevels
 * have it. It is declared here because the library depends on none of them. Their errors are converted into the
 * library's own.
 */
import { PannierError, isPannierError, type ErrorCode } from '../../base/errors.ts'

export interface Level {
  /** `getSync`: whether that can be called. Its own type does not name it. */
  readonly supports?: object
  /** `passive`: waits for it to be open, and does not open it. */
  open(options?: { readonly passive?: boolean }): Promise<void>
  close(): Promise<void>
  getSync?(key: string, options: LevelEncodings): Uint8Array | undefined
  getMany(keys: string[], options: LevelEncodings): Promise<(Uint8Array | undefined)[]>
  /** A batch of operations, which is atomic. `sync`: resolves when it would survive a loss of power. */
  batch(operations: LevelOperation[], options: LevelEncodings & { readonly sync: boolean }): Promise<void>
  keys(options: LevelKeysOptions): { all(): Promise<string[]> }
  clear(options: LevelRange): Promise<void>
  /** The approximate size, where there is one. */
  approximateSize?(start: string, end: string, options: { readonly keyEncoding: 'utf8' }): Promise<number>
}

export interface LevelEncodings {
  readonly keyEncoding: 'utf8'
  readonly valueEncoding: 'view'
}

export interface LevelRange {
  readonly gte: string
  readonly lt: string
  readonly keyEncoding: 'utf8'
}

export interface LevelKeysOptions extends LevelRange {
  readonly reverse?: boolean
  readonly limit?: number
}

export type LevelOperation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: string }

/** `name`: of the database. `opening`: whether it was being opened. */
export function levelError(error: unknown, name: string, opening: boolean): unknown {
  if (isPannierError(error)) return error
  const reasons = causesOf(error)
  const has = (code: string): boolean => reasons.some((reason) => reason.code === code)
  const failure = (code: ErrorCode, message: string): PannierError => new PannierError(code, message, { cause: error })
  if (has('LEVEL_LOCKED')) {
    return failure('PANNIER_LOCKED', `Another process, or another storage of this one, has the database ${name} open.`)
  }
  if (has('LEVEL_CORRUPTION')) return failure('PANNIER_CORRUPT', `The files of the database ${name} are damaged.`)
  if (reasons.some(({ code, name, message }) => NO_ROOM.test(`${code} ${name} ${message}`))) {
    return failure('PANNIER_QUOTA_EXCEEDED', `There is no room left for the database ${name}.`)
  }
  const what = reasons.map((reason) => reason.message).join(': ')
  if (opening) return failure('PANNIER_OPEN_FAILED', `The database ${name} could not be opened: ${what}.`)
  if (reasons.some(({ code = '' }) => NOT_OPEN.test(code))) {
    return failure('PANNIER_CLOSED', `The LevelDB of the database ${name} was closed.`)
  }
  return failure('PANNIER_IO_FAILED', `The database ${name} could not be read or written: ${what}.`)
}

/** LevelDB has no code for a full disk, only the words of the operating system. */
const NO_ROOM = /ENOSPC|no space left|quota/i

const NOT_OPEN = /^LEVEL_[A-Z]+_NOT_OPEN$/

interface Reason {
  readonly message: string
  readonly name?: string
  readonly code?: string
  readonly cause?: unknown
}

/** The error and what it says was behind it: abstract-level wraps once. */
function causesOf(error: unknown): Reason[] {
  if (!(error instanceof Error)) return [{ message: String(error) }]
  return [error, ...(error.cause === undefined ? [] : causesOf(error.cause))]
}
