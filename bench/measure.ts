/** Clocks and statistics. All times are in milliseconds. */

/** Shorter samples are too short for a page's clock, and for a machine that does something else now and then. */
const SAMPLE_MS_MIN = 20
const BATCH_MAX = 10_000
/** The greatest growth of a batch: a first guess may be far off, as nothing is warm yet. */
const BATCH_GROWTH_MAX = 10
const RUNS_MAX = 5
const BUDGET_MS = 1_500
/** Between turns of the event loop in a row of writes that might never leave the microtask queue. */
const TURN_MS = 8

export interface Timed<T> {
  readonly milliseconds: number
  readonly result: T
}

export async function time<T>(run: () => T | Promise<T>): Promise<Timed<T>> {
  const start = performance.now()
  const result = await run()
  return { milliseconds: performance.now() - start, result }
}

/** The median of several samples, each of as many runs as it takes to last long enough, after some that do not count. */
export async function timeWarm<T>(run: () => T | Promise<T>): Promise<Timed<T>> {
  const { result, milliseconds: first } = await time(run)
  let spent = first
  const sample = async (count: number): Promise<number> => {
    const start = performance.now()
    for (let i = 0; i < count; i++) await run()
    const milliseconds = performance.now() - start
    spent += milliseconds
    return milliseconds
  }
  let batch = 1
  for (let lasted = first; lasted < SAMPLE_MS_MIN && batch < BATCH_MAX;) {
    const growth = Math.min(BATCH_GROWTH_MAX, Math.max(2, SAMPLE_MS_MIN / lasted))
    batch = Math.min(BATCH_MAX, Math.ceil(batch * growth))
    lasted = await sample(batch)
  }
  const times: number[] = []
  while (times.length < RUNS_MAX && (times.length === 0 || spent < BUDGET_MS)) times.push((await sample(batch)) / batch)
  return { milliseconds: median(times), result }
}

/** Each operation awaited before the next: the time of each. */
export async function timeEach(count: number, run: (turn: number) => unknown): Promise<number[]> {
  const times: number[] = []
  let turnedAt = performance.now()
  for (let turn = 0; turn < count; turn++) {
    const start = performance.now()
    await run(turn)
    const end = performance.now()
    times.push(end - start)
    if (end - turnedAt > TURN_MS) {
      await eventLoopTurn()
      turnedAt = performance.now()
    }
  }
  return times
}

export interface Sustained {
  /** The milliseconds of all operations, and of the contender's work between them. */
  readonly milliseconds: number
  readonly longestOperation: number
  /** The longest time in which the thread could not have handled an event, work left over after the last operation included. */
  readonly longestStall: number
}

/** A row of awaited operations, watched by a timer that notices when the thread is held. */
export async function timeSustained(count: number, run: (turn: number) => unknown): Promise<Sustained> {
  const watch = watchStalls()
  const { milliseconds, result: times } = await time(() => timeEach(count, run))
  await new Promise((resolve) => setTimeout(resolve, 400))
  return { milliseconds, longestOperation: Math.max(...times), longestStall: watch.stop() }
}

/** Timers come no closer than 4 ms in a browser; what is later than the last few of them is a stall. */
function watchStalls(): { stop(): number } {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  return {
    stop: () => {
      clearInterval(timer)
      return longest
    },
  }
}

export function eventLoopTurn(): Promise<void> {
  if (typeof setImmediate === 'function') return new Promise((resolve) => setImmediate(resolve))
  return new Promise((resolve) => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => {
      channel.port1.close()
      resolve()
    }
    channel.port2.postMessage(null)
  })
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The mean of the two in the middle, where there are two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
