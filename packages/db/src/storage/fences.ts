/** The fences of the page store contract: a handle that has not seen the newest state is refused. */
import type { CommitSequence, Generation } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { sameBytes } from '../codec/same-bytes.ts'
import type { LogRecord } from './page-store.ts'

/** `newest`: sequence of the newest record in the log, 0 where there is none. */
export function checkNext(newest: number, sequence: CommitSequence): void {
  if (newest !== sequence - 1) throw stale(`the newest log record is ${newest}, not ${sequence - 1}`)
}

/** Whoever writes the first record without a head has not seen that somebody has put a header since. */
export function checkFirst(
  { sequence }: LogRecord,
  head: Uint8Array | undefined,
  header: Uint8Array | undefined,
): void {
  if (sequence === 1 && head === undefined && header !== undefined) throw stale('there is a header')
}

export function checkGeneration(generation: number, expected: Generation): void {
  if (generation !== expected) throw stale(`the meta record has generation ${generation}, not ${expected}`)
}

export function checkClaim(claimed: string | null | undefined, token: string): void {
  if (claimed !== token) throw stale('another handle has taken over the staging of pages')
}

/** `isEmpty`: there is no meta record and no log; only then there may be a first header. */
export function checkHeader(stored: Uint8Array | undefined, expected: Uint8Array | undefined, isEmpty = false): void {
  const isFirst = expected === undefined
  if (!sameBytes(stored, expected) || (isFirst && !isEmpty)) throw stale('the header is another one')
}

export function stale(what: string): PannierError {
  return new PannierError('PANNIER_STALE', `Another handle has written since: ${what}.`)
}
