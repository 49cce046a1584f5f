/** The used blocks of the file of pages. First fit, so that the file stays short. */
export const BLOCK_BYTES = 4096

/** Where a page stands. */
export interface Extent {
  readonly block: number
  /** The length of the page in bytes. */
  readonly length: number
}

export class BlockMap {
  /** 1: taken. What lies behind the end is free. */
  #taken = new Uint8Array(1024)
  /** The lowest free block: none lies before it. */
  #lowest: number
  /** Blocks before `first` are never given out. */
  constructor(first: number) {
    this.#lowest = first
    this.#taken.fill(1, 0, first)
  }

  /** Takes a run of blocks. */
  allocate(length: number): Extent {
    const count = blocksOf(length)
    this.#lowest = this.#nextFree(this.#lowest)
    let block = this.#lowest
    for (;;) {
      const end = this.#taken.indexOf(1, block)
      if (end < 0 || end - block >= count) break
      block = this.#nextFree(end)
    }
    const extent = { block, length }
    this.take(extent)
    return extent
  }

  take({ block, length }: Extent): void {
    const end = block + blocksOf(length)
    if (end > this.#taken.length) {
      const grown = new Uint8Array(Math.max(end, this.#taken.length * 2))
      grown.set(this.#taken)
      this.#taken = grown
    }
    this.#taken.fill(1, block, end)
  }

  release({ block, length }: Extent): void {
    this.#taken.fill(0, block, block + blocksOf(length))
    this.#lowest = Math.min(this.#lowest, block)
  }

  #nextFree(from: number): number {
    const block = this.#taken.indexOf(0, from)
    return block < 0 ? this.#taken.length : block
  }

  /** The number of blocks up to the last one that is taken. */
  end(): number {
    return this.#taken.lastIndexOf(1) + 1
  }
}

/** At least one, so that no two pages share a place. */
function blocksOf(length: number): number {
  return Math.max(1, Math.ceil(length / BLOCK_BYTES))
}
