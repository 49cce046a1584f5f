/** Seeded chance for tests: the same seed, the same run. */

export interface Random {
  /** 0 <= x < 1 */
  next(): number
  /** 0 <= n < limit, a whole number. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /**
   * A stream for one of several that run at the same time: what each draws does not depend on who comes first. Its start counts as
   * drawn. What it draws does not count, as the others decide how far it gets.
   */
  fork(): Random
}

const STEP = 0x6d2b79f5
/** The golden section of the cycle: the starts of many streams lie far apart. */
const JUMP = Math.imul(STEP, 0x9e3779b9)

/** The sum of what has been drawn: the same for runs with the same inputs, in whatever order they were drawn. */
let drawn = 0

/** What has been drawn in this process since the last call. */
export function takeDrawn(): number {
  const taken = drawn >>> 0
  drawn = 0
  return taken
}

/** Mulberry32 (Tommy Ettinger, public domain), in the form that fast-check asks for. */
export class RandomBits {
  #state: number
  readonly #isCounted: boolean

  /** `isCounted`: whether `takeDrawn` tells what is drawn. */
  constructor(state: number, isCounted = true) {
    this.#state = state | 0
    this.#isCounted = isCounted
  }

  next(): number {
    const state = (this.#state + STEP) | 0
    this.#state = state
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    t ^= t >>> 14
    if (this.#isCounted) drawn = (drawn + t) | 0
    return t
  }

  /** Goes to where another stream starts. */
  jump(): void {
    this.#state = (this.#state + JUMP) | 0
  }

  clone(): RandomBits {
    return new RandomBits(this.#state, this.#isCounted)
  }

  getState(): readonly number[] {
    return [this.#state]
  }
}

export function seededRandom(seed: number): Random {
  return streamOf(new RandomBits(seed), true)
}

function streamOf(bits: RandomBits, isCounted: boolean): Random {
  const next = (): number => (bits.next() >>> 0) / 0x100000000
  const below = (limit: number): number => {
    const result = Math.floor(next() * limit)
    if (isCounted) drawn = (drawn + result) | 0
    return result
  }
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    fork: () => streamOf(new RandomBits(bits.next(), false), false),
  }
}
