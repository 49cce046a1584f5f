/**
 * A clock that stands still until a test moves it, timers that fire when it does, and chance from a seed. What takes a week takes
 * milliseconds, and takes the same course in each run.
 */
import type { Environment } from '../src/base/environment.ts'
import { toHex } from '../src/codec/bytes.ts'
import { systemEnvironment } from '../src/database/lifecycle/environment.ts'
import { CheckError } from './check.ts'
import { quietLoop } from './event-loop.ts'
import { RandomBits } from './random.ts'

/** A clock that a test moves. */
export interface VirtualEnvironment extends Environment {
  /** How many timers wait. */
  readonly timerCount: number
  /** Resolves when nothing is left but what waits for a timer or for somebody outside. The clock stands still. */
  idle(): Promise<void>
  /** Moves the clock by `ms` milliseconds. Timers that are due meanwhile fire in order, each when all before it has gone idle. */
  advance(ms: number): Promise<void>
  /**
   * Moves the clock from timer to timer until the condition holds.
   *
   * @throws CheckError if it does not hold after `msMax` milliseconds of this clock (a day by default), or no timer is left
   */
  until(condition: () => unknown, msMax?: number): Promise<void>
  /** Sets the wall clock forward, or back, while the other clock stands still: as an operator or a bad battery does. */
  jump(ms: number): void
}

/** How a virtual environment begins. */
export interface VirtualOptions {
  /** What chance follows from: 1 by default. */
  readonly seed?: number
  /** What the wall clock shows at first, in milliseconds since 1970. */
  readonly startMs?: number
}

interface Timer {
  readonly dueMs: number
  readonly order: number
  readonly callback: () => void
}

const START_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

/**
 * Makes an environment for `open` whose clock stands still until the test moves it.
 *
 * @example
 * const clock = virtualEnvironment({ seed: 7 })
 * const db = await open('notes', { storage: memory(), environment: clock })
 * await clock.advance(60_000)
 */
export function virtualEnvironment({ seed = 1, startMs = START_MS }: VirtualOptions = {}): VirtualEnvironment {
  // Not counted: how often something is drawn is no input of a test.
  const bits = new RandomBits(seed, false)
  const { yield: turn } = systemEnvironment()
  const timers = new Set<Timer>()
  let nowMs = 0
  let aheadMs = startMs
  let order = 0
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length }, () => bits.next() >>> 24)
  const next = (): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers)
      if (
        first === undefined ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.order < first.order)
      )
        first = timer
    return first
  }
  const idle = (): Promise<void> => quietLoop(turn)
  const fire = async (timer: Timer): Promise<void> => {
    timers.delete(timer)
    nowMs = Math.max(nowMs, timer.dueMs)
    timer.callback()
    await idle()
  }
  return {
    now: () => nowMs,
    wallClock: () => aheadMs + nowMs,
    randomBytes,
    randomId: () => toHex(randomBytes(16)),
    yield: turn,
    after(delayMs, callback) {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), order: order++, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    get timerCount() {
      return timers.size
    },
    idle,
    async advance(ms) {
      const endMs = nowMs + ms
      await idle()
      for (let timer = next(); timer !== undefined && timer.dueMs <= endMs; timer = next()) await fire(timer)
      nowMs = endMs
    },
    async until(condition, msMax = DAY_MS) {
      const endMs = nowMs + msMax
      await idle()
      while (!(await condition())) {
        const timer = next()
        if (timer === undefined) throw new CheckError('No timer is left, and it has not come to that.')
        if (timer.dueMs > endMs) throw new CheckError(`It has not come to that in ${msMax} ms.`)
        await fire(timer)
      }
    },
    jump(ms) {
      aheadMs += ms
    },
  }
}
