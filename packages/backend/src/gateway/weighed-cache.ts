/** Keeps what was used last, up to a weight. */

interface Weighed<Value> {
  readonly value: Value
  readonly weight: number
}

export class WeighedCache<Value> {
  readonly #weightMax: number
  readonly #entries = new Map<string, Weighed<Value>>()
  #weight = 0

  constructor(weightMax: number) {
    this.#weightMax = weightMax
  }

  get(key: string): Value | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found.value
  }

  /** The entry itself stays, whatever its weight is. */
  set(key: string, value: Value, weight: number): void {
    this.delete(key)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax || oldest === key) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }

  *[Symbol.iterator](): Generator<readonly [key: string, value: Value]> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }
}
