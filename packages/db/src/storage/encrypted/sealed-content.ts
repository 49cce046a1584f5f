/**
 * The data that is sealed behind the bytes of a log record and of a meta record. docs/internals/encryption.md is
 * normative.
 *
 * **Runs.** A page is sealed with its id and the epoch of its run, 8 random bytes. The meta record lists from which
 * page id on which epoch counts.
 *
 * Guarantees: no page id is written twice with different content under one epoch. A handle keeps its epoch only if its
 * own commit was the last one and nothing that it began since has failed; otherwise it draws a new one. So a page of an
 * abandoned stage or commit is never mistaken for the page that replaced it.
 *
 *     varint: number of runs that the last pruning left; varint: number of runs
 *     each: varint first page id, less that of the one before; 8 bytes epoch
 *
 * Pages below the first run have format 1 and no epoch.
 */
import { firstWhere } from '../../base/binary-search.ts'
import { readU32, writeU32, ByteReader, ByteWriter, sameBytes } from '../../codec/bytes.ts'
import { NONCE_BYTES } from './platform.ts'
import type { PageId } from '../../base/brand.ts'

export const TOKEN_BYTES = 16
/** The trailer: its token; generation of the meta record, and revision of the keyring, that its writer knew. */
const LOG_TRAILER_BYTES: number = TOKEN_BYTES + 8 + 4
/** Nonce and token of the log record up to which the pages reach; revision of the keyring. */
const META_TRAILER_BYTES: number = NONCE_BYTES + TOKEN_BYTES + 4

/** The remembered part of a log record. */
export interface Link {
  /** The record after it vouches for this. */
  readonly nonce: Uint8Array
  /** The log seal while it is the newest one: nobody else can tell it. */
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

/** Encodes the content of a meta record as format 2 has it. */
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

export const EPOCH_BYTES = 8
/** This number may come before a look at which of them have no page left. */
const RUNS_BETWEEN_PRUNINGS = 64

export interface Run {
  readonly first: PageId
  readonly epoch: Uint8Array
}

/** The runs of one meta record, ascending. */
export interface Runs {
  readonly all: readonly Run[]
  /** How many were kept by the last pruning. */
  readonly kept: number
}

export const NO_RUNS: Runs = { all: [], kept: 0 }

/** Undefined for a page of format 1. */
export function epochOf({ all }: Runs, id: PageId): Uint8Array | undefined {
  return all[firstWhere(0, all.length, (place) => all[place]!.first > id) - 1]?.epoch
}

/** After a commit of pages from `first` on. Runs that begin there or later have no page. */
export function withRun({ all, kept }: Runs, run: Run): Runs {
  const before = all.filter(({ first }) => first < run.first)
  return { all: sameBytes(before.at(-1)?.epoch, run.epoch) ? before : [...before, run], kept }
}

export function isPruningDue({ all, kept }: Runs): boolean {
  return all.length >= 2 * kept + RUNS_BETWEEN_PRUNINGS
}

/** Without those that have no page among `ids` (ascending), so there are never many more of them than pages. */
export function pruned({ all }: Runs, ids: readonly PageId[]): Runs {
  let at = 0
  const left = all.filter((_, index) => {
    const { first } = all[index]!
    const next = all[index + 1]?.first ?? Infinity
    while (at < ids.length && ids[at]! < first) at++
    return at < ids.length && ids[at]! < next
  })
  return { all: left, kept: left.length }
}

function encodeRuns({ all, kept }: Runs): Uint8Array {
  const writer = new ByteWriter(16 + all.length * (EPOCH_BYTES + 2))
  writer.varint(kept)
  writer.varint(all.length)
  let before = 0
  for (const { first, epoch } of all) {
    writer.varint(first - before)
    writer.raw(epoch)
    before = first
  }
  return writer.finish()
}

function decodeRuns(bytes: Uint8Array): Runs {
  const reader = new ByteReader(bytes, 0, bytes.length)
  const kept = reader.varint()
  let first = 0
  const all = Array.from({ length: reader.varint() }, () => {
    first += reader.varint()
    return { first: first as PageId, epoch: reader.raw(EPOCH_BYTES).slice() }
  })
  return { all, kept }
}
