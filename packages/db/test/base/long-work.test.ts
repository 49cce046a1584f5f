/** Goal: long work goes on after it was overtaken, ends when it is overtaken again and again, and can be cancelled and watched. */
import { expect, test } from 'vitest'
import { PannierError, type ErrorCode } from '../../src/base/errors.ts'
import { RunningWork, runInSteps, STALE_RETRIES_MAX, type StepOptions } from '../../src/base/long-work.ts'

function failure(code: ErrorCode): PannierError {
  return new PannierError(code, 'as if')
}

/** Each look at the clock takes as long as `ms` says. */
function clock(ms = 0): { now(): number; yield(): Promise<void>; yields: number } {
  let time = 0
  return {
    yields: 0,
    now: () => (time += ms),
    async yield() {
      this.yields++
    },
  }
}

function run(options: Pick<StepOptions, 'step'> & Partial<StepOptions>): Promise<void> {
  return runInSteps({ name: 'The work', environment: clock(), refresh: async () => {}, ...options })
}

test('a step that was overtaken runs again, on what is stored by then', async () => {
  const log: string[] = []
  const steps = ['PANNIER_STALE', true, 'PANNIER_SNAPSHOT_EXPIRED', true, false] as const
  let at = 0
  await run({
    step: async () => {
      const step = steps[at++]!
      log.push(String(step))
      if (typeof step === 'string') throw failure(step)
      return step
    },
    refresh: async () => void log.push('refresh'),
  })
  expect(log).toEqual(['PANNIER_STALE', 'refresh', 'true', 'PANNIER_SNAPSHOT_EXPIRED', 'refresh', 'true', 'false'])
})

test('work that is always overtaken fails in the end; work that gets on never does', async () => {
  let runs = 0
  const always = run({
    step: async () => {
      runs++
      throw failure('PANNIER_SNAPSHOT_EXPIRED')
    },
  })
  await expect(always).rejects.toHaveProperty('code', 'PANNIER_SNAPSHOT_EXPIRED')
  expect(runs).toBe(STALE_RETRIES_MAX + 1)
  let left = 10 * STALE_RETRIES_MAX
  await run({
    step: async () => {
      if (left % 2 === 1) {
        left--
        throw failure('PANNIER_STALE')
      }
      return --left > 0
    },
  })
  expect(left).toBeLessThanOrEqual(0)
})

test('other failures are not tried again', async () => {
  let runs = 0
  const failing = run({
    step: async () => {
      runs++
      throw failure('PANNIER_CORRUPT')
    },
  })
  await expect(failing).rejects.toHaveProperty('code', 'PANNIER_CORRUPT')
  expect(runs).toBe(1)
})

test('a signal cancels it before the first step, and between two', async () => {
  const reason = new Error('enough')
  let runs = 0
  const step = async (): Promise<boolean> => ++runs < 10
  const cancelled = { code: 'PANNIER_ABORTED', message: 'The work was cancelled.', cause: reason }
  await expect(run({ step, signal: AbortSignal.abort(reason) })).rejects.toMatchObject(cancelled)
  expect(runs).toBe(0)
  const abort = new AbortController()
  const stopping = run({
    step: async () => {
      if (runs === 3) abort.abort(reason)
      return step()
    },
    signal: abort.signal,
  })
  await expect(stopping).rejects.toMatchObject(cancelled)
  expect(runs).toBe(4)
})

test('an error of the library that is the reason is what it fails with', async () => {
  const closed = failure('PANNIER_CLOSED')
  await expect(run({ step: async () => true, signal: AbortSignal.abort(closed) })).rejects.toBe(closed)
})

test('what is reported never falls, and is 1 only at the end', async () => {
  const told: number[] = []
  const shares = [
    [1, 4],
    [1, 8],
    [0, 0],
    [9, 4],
  ] as const
  let at = 0
  await run({
    step: async (work) => {
      const [done, total] = shares[at++]!
      work.report(done, total)
      return at < shares.length
    },
    onProgress: (done) => told.push(done),
  })
  expect(told).toEqual([0.25, 0.25, 0.25, 0.999, 1])
})

test('it releases the thread when its slice has passed, and not before', async () => {
  const quick = clock(0)
  const fresh = new RunningWork({ name: 'The work', environment: quick })
  for (let n = 0; n < 100; n++) expect(fresh.pause()).toBe(false)
  expect(quick.yields).toBe(0)
  const slow = clock(100)
  const late = new RunningWork({ name: 'The work', environment: slow })
  expect(await late.pause()).toBe(true)
  expect(slow.yields).toBe(1)
})
