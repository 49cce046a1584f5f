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
  await vi.runAllTimersAsync()
  await writing
  expect(calls).toEqual(['write', 'succeed', 'write', 'succeed', 'write'])
})

test('after some ten seconds it fails', async () => {
  const writing = writeWhenThereIsRoom(
    () => Promise.reject(full()),
    () => Promise.resolve(),
  )
  const failed = expect(writing).rejects.toMatchObject({ code: 'PANNIER_QUOTA_EXCEEDED' })
  const startMs = Date.now()
  await vi.runAllTimersAsync()
  await failed
  expect(Date.now() - startMs).toBeGreaterThanOrEqual(10_000)
  expect(Date.now() - startMs).toBeLessThan(11_500)
})

test('any other failure is one at once', async () => {
  const write = vi.fn(() => Promise.reject(new PannierError('PANNIER_CLOSED', 'closed')))
  await expect(writeWhenThereIsRoom(write, () => Promise.resolve())).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
  expect(write).toHaveBeenCalledTimes(1)
})
