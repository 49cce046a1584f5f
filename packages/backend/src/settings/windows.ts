/** Counts what may happen only so often in a time. A window begins with the first thing that is counted in it. */

const WINDOWS_MAX = 20_000

interface Window {
  /** What it still allows. */
  left: number
  readonly untilMs: number
}

export class Windows {
  readonly #now: () => number
  /** The oldest are first. */
  readonly #windows = new Map<string, Window>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts one, and says whether it is allowed. */
  take(key: string, most: number, seconds: number): boolean {
    const window = this.#window(key, most, seconds)
    if (window.left === 0) return false
    window.left--
    return true
  }

  delete(key: string): void {
    this.#windows.delete(key)
  }

  clear(): void {
    this.#windows.clear()
  }

  #window(key: string, most: number, seconds: number): Window {
    const now = this.#now()
    const known = this.#windows.get(key)
    if (known !== undefined && now < known.untilMs) return known
    this.#windows.delete(key)
    if (this.#windows.size >= WINDOWS_MAX) this.#windows.delete(this.#windows.keys().next().value!)
    const window = { left: most, untilMs: now + seconds * 1000 }
    this.#windows.set(key, window)
    return window
  }
}
