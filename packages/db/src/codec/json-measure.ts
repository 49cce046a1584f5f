/** Measures a JSON value that comes in chunks, by its quotes, brackets and commas, which are all ASCII. */

export const LINE_FEED = 10
export const OPEN_ARRAY = 91
export const CLOSE_ARRAY = 93
export const OPEN_OBJECT = 123
export const CLOSE_OBJECT = 125
const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92]

export class Measure {
  /** Members of all its objects, as the text has them. */
  members = 0
  deepest = 0
  #depth = 0
  #inString = false
  #escaped = false
  #lines = 0

  /** Goes to the comma or closing bracket that ends the value, or to `to`. */
  scan(bytes: Uint8Array, from: number, to: number): number {
    let at = from
    while (at < to) {
      if (this.#inString) {
        at = this.#scanString(bytes, at, to)
        continue
      }
      const byte = bytes[at]!
      if (byte === QUOTE) {
        this.#inString = true
      } else if (byte === COLON) {
        this.members++
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++this.#depth > this.deepest) this.deepest = this.#depth
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.#depth === 0) return at
        this.#depth--
      } else if (byte === COMMA) {
        if (this.#depth === 0) return at
      } else if (byte === LINE_FEED) {
        this.#lines++
      }
      at++
    }
    return at
  }

  /** In an object: moves to the next member that is an array, to the object's end, or to `to`. */
  scanTo(bytes: Uint8Array, from: number, to: number): number {
    let at = from
    while (at < to) {
      if (this.#inString) {
        at = this.#scanString(bytes, at, to)
        continue
      }
      const byte = bytes[at]!
      if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_ARRAY && this.#depth === 1) return at
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#depth++
      else if ((byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) && --this.#depth <= 0) return at
      at++
    }
    return at
  }

  /** Into the array at which `scanTo` has stopped. */
  resume(at: number): number {
    this.#depth++
    return at + 1
  }

  /** Line feeds since it was asked last. */
  takeLines(): number {
    const lines = this.#lines
    this.#lines = 0
    return lines
  }

  /** Moves behind the closing quote, or to `to`. */
  #scanString(bytes: Uint8Array, from: number, to: number): number {
    let at = from
    if (this.#escaped) {
      this.#escaped = false
      at++
    }
    for (; at < to; at++) {
      const byte = bytes[at]!
      if (byte === QUOTE) {
        this.#inString = false
        return at + 1
      }
      if (byte === BACKSLASH && ++at >= to) {
        this.#escaped = true
        return to
      }
      // Not JSON; but the lines after it are to be counted right.
      if (byte === LINE_FEED) this.#lines++
    }
    return to
  }
}

/** The number of members of all objects in a value. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object') count += countMembers(element)
    return count
  }
  for (const name in value) {
    count++
    const member = (value as Record<string, unknown>)[name]
    if (typeof member === 'object') count += countMembers(member)
  }
  return count
}
