/**
 * Counts what may happen only so often in a time, at all servers of a fleet together. A window begins with the first thing that is counted in
 * it. Memory is bounded: what has counted least is forgotten first.
 *
 * A server tells the others within a second, so `n` servers may allow `n` times as much in that second. What it has counted of a window it
 * keeps for itself while that is less than a tenth: who is far from a limit costs no message. No clock of the wall decides, as one that was
 * wrong would lock for years.
 */
import type { Environment } from 'pannier/types'
import { aloneIn, type Fleet, type Message } from './fleet.ts'

const WINDOWS_MAX = 20_000
const TELL_MS = 1000
const TOLD_SHARE = 0.1
/** The most windows in one message. The others come with the next one. */
const TOLD_MAX = 500

interface Window {
  readonly most: number
  readonly seconds: number
  readonly untilMs: number
  /** The number of requests that this server itself has counted (its own). */
  own: number
  /** The number of requests that others have counted. */
  others: number
  /** The part of `own` that other servers know. */
  told: number
}

interface CountsMessage extends Message {
  readonly counts: readonly (readonly [key: string, by: number, most: number, seconds: number])[]
}

/** Windows of one kind, by keys: an address, an account. */
export class Windows {
  readonly #environment: Environment
  readonly #fleet: Fleet
  readonly #topic: string
  /** The windows, the oldest first. */
  readonly #windows = new Map<string, Window>()
  /** Keys of windows that have changed since the last message. While there are some, a timer runs. */
  readonly #news = new Set<string>()

  /** @param name Tells these windows from others of the fleet. */
  constructor(environment: Environment, name: string, fleet: Fleet = aloneIn(environment)) {
    this.#environment = environment
    this.#fleet = fleet
    this.#topic = `windows of ${name}`
    fleet.listen(this.#topic, (message) => this.#hear(message as CountsMessage))
  }

  /** Counts one, and says whether it is allowed. */
  take(key: string, most: number, seconds: number): boolean {
    if (this.waitMs(key, most) > 0) return false
    this.count(key, most, seconds)
    return true
  }

  /** How long it takes until one more is allowed. */
  waitMs(key: string, most: number): number {
    const window = this.#windows.get(key)
    if (window === undefined || window.own + window.others < most) return 0
    return Math.max(0, window.untilMs - this.#environment.now())
  }

  /** Counts one. The result takes it back. */
  count(key: string, most: number, seconds: number): () => void {
    const window = this.#window(key, most, seconds)
    const add = (by: number): void => {
      window.own += by
      this.#note(key)
    }
    add(1)
    return () => add(-1)
  }

  /** From here on as if nothing had been counted. */
  delete(key: string): void {
    const window = this.#windows.get(key)
    if (window === undefined) return
    window.own = -window.others
    this.#note(key)
  }

  /** Forgets all that this server knows. */
  clear(): void {
    this.#windows.clear()
  }

  #window(key: string, most: number, seconds: number): Window {
    const now = this.#environment.now()
    const known = this.#windows.get(key)
    if (known !== undefined && now < known.untilMs) return known
    this.#windows.delete(key)
    if (this.#windows.size >= WINDOWS_MAX) this.#makeRoom(now)
    const window = { most, seconds, untilMs: now + seconds * 1000, own: 0, others: 0, told: 0 }
    this.#windows.set(key, window)
    return window
  }

  /** Makes room: windows that are over go, or else the oldest of those with the fewest requests. So a guesser is not forgotten. */
  #makeRoom(now: number): void {
    const counted = ({ own, others, untilMs }: Window): number => (untilMs <= now ? 0 : own + others)
    let least = Infinity
    for (const window of this.#windows.values()) least = Math.min(least, counted(window))
    let remaining = WINDOWS_MAX / 10
    for (const [key, window] of this.#windows) {
      if (counted(window) > least) continue
      this.#windows.delete(key)
      if (--remaining === 0) return
    }
  }

  #note(key: string): void {
    if (this.#fleet.id === '') return
    if (this.#news.size === 0) this.#tellSoon()
    this.#news.add(key)
  }

  #tellSoon(): void {
    this.#environment.after(TELL_MS, () => this.#tell())
  }

  #tell(): void {
    const counts: CountsMessage['counts'][number][] = []
    for (const key of this.#news) {
      if (counts.length === TOLD_MAX) break
      this.#news.delete(key)
      const window = this.#windows.get(key)
      if (window === undefined) continue
      const { own, told, most, seconds } = window
      if (own === told || (told === 0 && own >= 0 && own < most * TOLD_SHARE)) continue
      counts.push([key, own - told, most, seconds])
      window.told = own
    }
    if (counts.length > 0) this.#fleet.tell({ topic: this.#topic, counts } satisfies CountsMessage)
    if (this.#news.size > 0) this.#tellSoon()
  }

  #hear({ counts }: CountsMessage): void {
    for (const [key, by, most, seconds] of counts) this.#window(key, most, seconds).others += by
  }
}
