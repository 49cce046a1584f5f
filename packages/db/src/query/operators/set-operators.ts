/** Union and intersection of scans: each document comes once. */
import { type EntryRow, type Operator, BATCH_ROWS_MAX, changeBatches } from './operator.ts'

/** The rows of one scan after the other. */
export function unionScan(inputs: readonly Operator<EntryRow>[]): Operator<EntryRow> {
  const seen = new NumberSet()
  let at = 0
  return {
    next: (count) => {
      const rows = inputs[at]?.next(count)
      if (rows !== undefined) return rows.filter(({ number }) => seen.add(number))
      return at++ < inputs.length ? [] : undefined
    },
  }
}

/** Numbers in one chunk of a set. */
const CHUNK_NUMBERS = 2 ** 15

/** A set of document numbers. It has a bit for each number of a chunk, so the range of the numbers bounds its size. */
export class NumberSet {
  private readonly chunks = new Map<number, Uint8Array>()

  /** False if it was there already. */
  add(number: number): boolean {
    const place = Math.floor(number / CHUNK_NUMBERS)
    let chunk = this.chunks.get(place)
    if (chunk === undefined) this.chunks.set(place, (chunk = new Uint8Array(CHUNK_NUMBERS / 8)))
    const at = number % CHUNK_NUMBERS
    const bit = 1 << (at & 7)
    if ((chunk[at >>> 3]! & bit) !== 0) return false
    chunk[at >>> 3]! |= bit
    return true
  }

  has(number: number): boolean {
    const at = number % CHUNK_NUMBERS
    const chunk = this.chunks.get(Math.floor(number / CHUNK_NUMBERS))
    return chunk !== undefined && (chunk[at >>> 3]! & (1 << (at & 7))) !== 0
  }
}

/** The rows of one scan, in its order, whose documents another scan has too. The other is walked first, for the numbers alone. */
export function intersectionScan(rows: Operator<EntryRow>, other: Operator<EntryRow>): Operator<EntryRow> {
  const numbers = new NumberSet()
  const inBoth = changeBatches(rows, true, (batch) => ({
    rows: batch.filter(({ number }) => numbers.has(number)),
    taken: batch.length,
  }))
  let isWalked = false
  return {
    next: (count) => {
      if (isWalked) return inBoth.next(count)
      const batch = other.next(BATCH_ROWS_MAX)
      if (batch === undefined) isWalked = true
      else for (const { number } of batch) numbers.add(number)
      return []
    },
  }
}
