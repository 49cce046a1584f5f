/** Goal: long work in steps goes on after it was overtaken, and ends when it is overtaken again and again. */
import { expect, test } from 'vitest'
import { PannierError, type ErrorCode } from '../../src/base/errors.ts'
import { runSteps, STEP_RETRIES_MAX } from '../../src/base/steps.ts'

function failure(code: ErrorCode): PannierError {
  return new PannierError(code, 'as if')
}

test('a step that was overtaken runs again, on what is stored by then', async () => {
  const log: string[] = []
  const steps = ['PANNIER_STALE', true, 'PANNIER_SNAPSHOT_EXPIRED', true, false] as const
  let at = 0
  await runSteps(
    async () => {
      const step = steps[at++]!
      log.push(String(step))
      if (typeof step === 'string') throw failure(step)
      return step
    },
    async () => void log.push('refresh'),
  )
  expect(log).toEqual(['PANNIER_STALE', 'refresh', 'true', 'PANNIER_SNAPSHOT_EXPIRED', 'refresh', 'true', 'false'])
})

test('one that is always overtaken fails in the end; one that gets on never does', async () => {
  let runs = 0
  const always = runSteps(
    async () => {
      runs++
      throw failure('PANNIER_SNAPSHOT_EXPIRED')
    },
    async () => {},
  )
  await expect(always).rejects.toHaveProperty('code', 'PANNIER_SNAPSHOT_EXPIRED')
  expect(runs).toBe(STEP_RETRIES_MAX + 1)
  let left = 10 * STEP_RETRIES_MAX
  await runSteps(
    async () => {
      if (left % 2 === 1) {
        left--
        throw failure('PANNIER_STALE')
      }
      return --left > 0
    },
    async () => {},
  )
  expect(left).toBeLessThanOrEqual(0)
})

test('other failures are not tried again', async () => {
  let runs = 0
  const failing = runSteps(
    async () => {
      runs++
      throw failure('PANNIER_CORRUPT')
    },
    async () => {},
  )
  await expect(failing).rejects.toHaveProperty('code', 'PANNIER_CORRUPT')
  expect(runs).toBe(1)
})
