/**
 * Names of revisions: `N-suffix`. N, the generation, counts the edits; the suffix distinguishes edits of one
 * generation. The library makes suffixes of 32 lower-case hex digits, stored as 16 bytes. Any other suffix, from a
 * replica, is kept as text.
 */
import { ArgumentError } from '../base/options.ts'
import { asArray, HEX } from '../codec/bytes.ts'
import { KEY_NUMBER_MAX } from '../codec/key-encoding.ts'
import { byteStringToText, textToByteString } from '../codec/text.ts'

export interface Revision {
  readonly generation: number
  readonly suffix: string
}

/** `_revisions` of a document: its revision and the known ancestors, newest first. */
export interface RevisionHistory {
  /** The generation of the first id. */
  readonly start: number
  /** The ids, hashes, the newest first. */
  readonly ids: readonly string[]
}

export const REVISION_HASH_BYTES = 16
/** The highest generation of a revision, the number before the hyphen: the largest number that a key holds. */
export const GENERATION_MAX: number = KEY_NUMBER_MAX
/** Bytes of a suffix as WTF-8. */
export const REVISION_SUFFIX_BYTES_MAX = 255
/** Revisions that a document's history may remember. Each takes some 45 bytes. */
export const REVISIONS_LIMIT_MAX = 100_000
/** The limit of a new collection: docs/adr/0016-revisions-limit.md. */
export const REVISIONS_LIMIT_DEFAULT = 200

export function revisionText({ generation, suffix }: Revision): string {
  return `${generation}-${suffix}`
}

/** Throws a TypeError for what is not a revision: `1-`, `x-1`, `0-a`, a generation beyond the limit. */
export function parseRevision(text: unknown): Revision {
  const parts = typeof text === 'string' ? REVISION.exec(text) : null
  if (parts === null) throw badRevision(text)
  const revision = { generation: Number(parts[1]), suffix: parts[2]! }
  if (!isRevision(revision)) throw badRevision(text)
  return revision
}

/** The revision and its ancestors, newest first: `_revisions` if there is one, which then must agree with `_rev`. */
export function parseHistory(rev: unknown, history: unknown): Revision[] {
  if (history === undefined) return [parseRevision(rev)]
  const { start, ids } = (history ?? {}) as Partial<Record<keyof RevisionHistory, unknown>>
  const isHistory =
    typeof start === 'number' && start <= GENERATION_MAX && Array.isArray(ids) && ids.length > 0 && ids.length <= start
  if (!isHistory) throw badHistory(history)
  const path: Revision[] = []
  for (let at = 0; at < ids.length && at < REVISIONS_LIMIT_MAX; at++) {
    const revision = { generation: start - at, suffix: (ids as unknown[])[at] as string }
    if (typeof revision.suffix !== 'string' || !isRevision(revision)) throw badHistory(history)
    path.push(revision)
  }
  if (rev !== undefined && rev !== revisionText(path[0]!))
    throw new ArgumentError(`_rev must be the newest of _revisions, ${revisionText(path[0]!)}`, rev)
  return path
}

export function historyOf(path: readonly Revision[]): RevisionHistory {
  return { start: path[0]!.generation, ids: path.map(({ suffix }) => suffix) }
}

/** The winner of two leaves comes first: live before deleted, then the higher generation, then the greater suffix. */
export function compareLeaves(
  left: Revision & { readonly deleted: boolean },
  right: Revision & { readonly deleted: boolean },
): number {
  if (left.deleted !== right.deleted) return left.deleted ? 1 : -1
  if (left.generation !== right.generation) return right.generation - left.generation
  return left.suffix === right.suffix ? 0 : left.suffix < right.suffix ? 1 : -1
}

/** Whether the suffix is stored as the bytes of its hex digits. */
export function isHashSuffix(suffix: string): boolean {
  return suffix.length === 2 * REVISION_HASH_BYTES && HASH.test(suffix)
}

/** The stored form of a suffix: its 16 bytes, or its text as WTF-8. */
export function suffixToBytes(suffix: string): string {
  const bytes = hashBytes(suffix)
  // Spreading would take three times as long.
  return bytes === undefined ? textToByteString(suffix) : String.fromCharCode.apply(undefined, bytes as never)
}

export function suffixFromBytes(bytes: string, isText: boolean): string {
  if (isText) return byteStringToText(bytes)
  let suffix = ''
  for (let at = 0; at < bytes.length; at++) suffix += HEX[bytes.charCodeAt(at)]!
  return suffix
}

/** As `suffixToBytes`, as an array. */
export function suffixArray(suffix: string): Uint8Array {
  return hashBytes(suffix) ?? asArray(textToByteString(suffix))
}

/** Undefined if the suffix is not stored as the bytes of its hex digits. */
export function hashBytes(suffix: string): Uint8Array | undefined {
  if (suffix.length !== 2 * REVISION_HASH_BYTES) return undefined
  const bytes = new Uint8Array(REVISION_HASH_BYTES)
  for (let at = 0; at < REVISION_HASH_BYTES; at++) {
    const high = hexDigit(suffix.charCodeAt(2 * at))
    const low = hexDigit(suffix.charCodeAt(2 * at + 1))
    if (high < 0 || low < 0) return undefined
    bytes[at] = (high << 4) | low
  }
  return bytes
}

const HASH = /^[0-9a-f]+$/
const REVISION = /^([1-9]\d{0,14})-([^]+)$/

/** -1 for what is no lower-case hex digit. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  return code >= 97 && code <= 102 ? code - 87 : -1
}

function isRevision({ generation, suffix }: Revision): boolean {
  return (
    Number.isSafeInteger(generation) &&
    generation >= 1 &&
    generation <= GENERATION_MAX &&
    suffix !== '' &&
    (suffix.length * 3 <= REVISION_SUFFIX_BYTES_MAX || textToByteString(suffix).length <= REVISION_SUFFIX_BYTES_MAX)
  )
}

function badRevision(text: unknown): TypeError {
  return new ArgumentError("a revision must be a string like '2-abc'", text)
}

function badHistory(history: unknown): TypeError {
  return new ArgumentError('_revisions must be { start, ids } with 1 to start ids, newest first', history)
}
