/** A small write that has just given the reserve back waits for its room, for so long and no longer. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { writeWhenThereIsRoom } from '../../src/storage/indexeddb/quota-reserve.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const full = (): PannierError => new PannierError('PANNIER_QUOTA_EXCEEDED', 'no room')

test('it tries again until there is room, each time after a transaction that has succeeded', async () => {
  const calls: string[] = []
  const write = async (): Promise<void> => {
    calls.push('write')
    if (calls.length < 5) throw full()
  }
  const writing = writeWhenThereIsRoom(write, async () => void calls.push('succeed'))
  await vi.advanceTimersByTimeAsync(10_000)
  await writing
  expect(calls).toEqual(['write', 'succeed', 'write', 'succeed', 'write'])
})

test('after some ten seconds it fails', async () => {
  const writing = writeWhenThereIsRoom(
    () => Promise.reject(full()),
    () => Promise.resolve(),
  )
  const startMs = Date.now()
  const failed = writing.catch((error: unknown) => ({ error, afterMs: Date.now() - startMs }))
  await vi.advanceTimersByTimeAsync(30_000)
  const { error, afterMs } = (await failed) as { error: unknown; afterMs: number }
  expect(error).toMatchObject({ code: 'PANNIER_QUOTA_EXCEEDED' })
  expect(afterMs).toBeGreaterThanOrEqual(10_000)
  expect(afterMs).toBeLessThan(11_500)
})

test('any other failure is one at once', async () => {
  const write = vi.fn(() => Promise.reject(new PannierError('PANNIER_CLOSED', 'closed')))
  await expect(writeWhenThereIsRoom(write, () => Promise.resolve())).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(write).toHaveBeenCalledTimes(1)
})
