/**
 * Which tag each page has to have beside its id: pages are sealed with the epoch of a run, 8 random bytes, and the meta record tells from
 * which page id on which epoch counts.
 *
 * Guarantees: under one epoch no page id is written twice with different content. A handle goes on with its epoch only where its own commit
 * was the last one and nothing that it began since has failed; in all other cases it draws a new one. So a page of a stage or commit that
 * was given up, by whomever, is never taken for the one that came in its place.
 *
 *     varint: how many were left when they were last pruned; varint: how many there are
 *     each: varint first page id, less that of the one before; 8 bytes epoch
 *
 * Pages below the first run are of format 1, and have no epoch.
 */
import type { PageId } from '../../base/brand.ts'
import { ByteReader, ByteWriter, sameBytes } from '../../codec/bytes.ts'

export const EPOCH_BYTES = 8
/** So many may come before it is looked which of them have no page left. */
const RUNS_BETWEEN_PRUNINGS = 64

export interface Run {
  readonly first: PageId
  readonly epoch: Uint8Array
}

/** Those of one meta record, ascending. */
export interface Runs {
  readonly all: readonly Run[]
  /** How many were left by the last pruning. */
  readonly kept: number
}

export const NO_RUNS: Runs = { all: [], kept: 0 }

/** Undefined for a page of format 1. */
export function epochOf({ all }: Runs, id: PageId): Uint8Array | undefined {
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (all[middle]!.first <= id) low = middle + 1
    else high = middle
  }
  return all[low - 1]?.epoch
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

export function encodeRuns({ all, kept }: Runs): Uint8Array {
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

export function decodeRuns(bytes: Uint8Array): Runs {
  const reader = new ByteReader(bytes, 0, bytes.length)
  const kept = reader.varint()
  let first = 0
  const all = Array.from({ length: reader.varint() }, () => {
    first += reader.varint()
    return { first: first as PageId, epoch: reader.raw(EPOCH_BYTES).slice() }
  })
  return { all, kept }
}
