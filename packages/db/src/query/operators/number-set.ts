/** A set of documents' numbers: a bit for each number of a stretch in which there is one, so its size is bounded by the numbers' range. */

const CHUNK_NUMBERS = 2 ** 15

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
