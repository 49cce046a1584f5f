interface Weighed<Value> {
  readonly value: Value
  readonly weight: number
}

/** A cache of what was used last, up to a weight. An entry weighs 1, unless `set` says otherwise. */
export class LruMap<Key, Value> {
  readonly #weightMax: number
  readonly #onDelete: (value: Value, key: Key) => void
  /** The entry that was used last is at the end. */
  readonly #entries = new Map<Key, Weighed<Value>>()
  #weight = 0

  /** `onDelete` is called with each entry that leaves. */
  constructor(weightMax: number, onDelete: (value: Value, key: Key) => void = () => {}) {
    this.#weightMax = weightMax
    this.#onDelete = onDelete
  }

  /** The entry counts as used. */
  get(key: Key): Value | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found.value
  }

  /** The new entry stays, whatever its weight is. An entry that it replaces leaves. */
  set(key: Key, value: Value, weight: number = 1): void {
    this.delete(key)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax || oldest === key) break
      this.delete(oldest)
    }
  }

  /** Does nothing if no entry has the key. */
  delete(key: Key): void {
    const found = this.#entries.get(key)
    if (found === undefined) return
    this.#entries.delete(key)
    this.#weight -= found.weight
    this.#onDelete(found.value, key)
  }

  /** Deletes all entries. */
  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key)
  }

  /** The entry that was used last comes last. */
  *[Symbol.iterator](): Generator<readonly [key: Key, value: Value]> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }
}
