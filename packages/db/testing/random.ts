/** Seeded chance for tests: the same seed, the same run. */

export interface Random {
  /** 0 <= x < 1 */
  next(): number
  /** 0 <= n < limit, a whole number. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

/** Mulberry32 (Tommy Ettinger, public domain). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 0x100000000
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, chance: (probability) => next() < probability, pick: (items) => items[below(items.length)]! }
}
