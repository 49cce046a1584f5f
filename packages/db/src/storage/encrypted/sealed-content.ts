/** What is sealed together with a log record and with a meta record, behind its bytes. docs/internals/encryption.md is normative. */
import { readU32, writeU32 } from '../../codec/bytes.ts'
import { NONCE_BYTES } from './platform.ts'
import { decodeRuns, encodeRuns, NO_RUNS, type Runs } from './runs.ts'

export const TOKEN_BYTES = 16
/** Its token; generation of the meta record, and revision of the header, that its writer knew. */
const LOG_TRAILER_BYTES: number = TOKEN_BYTES + 8 + 4
/** Nonce and token of the log record up to which the pages reach; revision of the header. */
const META_TRAILER_BYTES: number = NONCE_BYTES + TOKEN_BYTES + 4

/** What is remembered of a log record. */
export interface Link {
  /** The record after it vouches for this. */
  readonly nonce: Uint8Array
  /** The head while it is the newest one: nobody else can tell it. */
  readonly token: Uint8Array
}

interface LogContent {
  readonly bytes: Uint8Array
  readonly token: Uint8Array
  readonly generation: number
  readonly revision: number
}

interface MetaContent {
  readonly bytes: Uint8Array
  readonly runs: Runs
  readonly link: Link
  readonly revision: number
}

export function encodeLogContent({ bytes: content, token, generation, revision }: LogContent): Uint8Array {
  const bytes = new Uint8Array(content.length + LOG_TRAILER_BYTES)
  bytes.set(content)
  bytes.set(token, content.length)
  const at = content.length + TOKEN_BYTES
  writeU32(bytes, at, generation >>> 0)
  writeU32(bytes, at + 4, Math.floor(generation / 2 ** 32))
  writeU32(bytes, at + 8, revision)
  return bytes
}

export function decodeLogContent(plain: Uint8Array): LogContent {
  const at = plain.length - LOG_TRAILER_BYTES
  const end = at + TOKEN_BYTES
  return {
    bytes: plain.slice(0, at),
    token: plain.slice(at, end),
    generation: readU32(plain, end) + 2 ** 32 * readU32(plain, end + 4),
    revision: readU32(plain, end + 8),
  }
}

/** As format 2 has it. */
export function encodeMetaContent({ bytes: content, runs, link, revision }: MetaContent): Uint8Array {
  const encodedRuns = encodeRuns(runs)
  const runsEnd = content.length + encodedRuns.length
  const bytes = new Uint8Array(runsEnd + 4 + META_TRAILER_BYTES)
  bytes.set(content)
  bytes.set(encodedRuns, content.length)
  writeU32(bytes, runsEnd, encodedRuns.length)
  bytes.set(link.nonce, runsEnd + 4)
  bytes.set(link.token, runsEnd + 4 + NONCE_BYTES)
  writeU32(bytes, bytes.length - 4, revision)
  return bytes
}

/** In format 1 there are no runs. */
export function decodeMetaContent(plain: Uint8Array, format: 1 | 2): MetaContent {
  const at = plain.length - META_TRAILER_BYTES
  const token = at + NONCE_BYTES
  const link = { nonce: plain.slice(at, token), token: plain.slice(token, token + TOKEN_BYTES) }
  const revision = readU32(plain, token + TOKEN_BYTES)
  if (format === 1) return { bytes: plain.slice(0, at), runs: NO_RUNS, link, revision }
  const runsEnd = at - 4
  const runsAt = runsEnd - readU32(plain, runsEnd)
  return { bytes: plain.slice(0, runsAt), runs: decodeRuns(plain.subarray(runsAt, runsEnd)), link, revision }
}
