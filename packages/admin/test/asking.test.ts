/** Goal: a page whose server is away asks for it rarely, and soon when there is reason to hope. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Asking } from '../src/state/asking.ts'

const asks: number[] = []
let chance: ReturnType<typeof vi.spyOn>
let asking: Asking

beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
  chance = vi.spyOn(Math, 'random').mockReturnValue(1)
  asks.length = 0
  asking = new Asking(() => {
    asks.push(Date.now() / 1000)
    return Promise.reject(new Error('away'))
  })
})

afterEach(() => {
  chance.mockRestore()
  vi.useRealTimers()
})

test('the page asks after 3, 6, 12 and 24 seconds, then every 30', async () => {
  asking.begin()
  asking.begin()
  await vi.advanceTimersByTimeAsync(135_000)
  expect(asks).toEqual([3, 9, 21, 45, 75, 105, 135])
  asking.end()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(asks).toHaveLength(7)
})

test('chance shortens a wait, to half of it at most: an hour has between 120 and 240 asks', async () => {
  chance.mockRestore()
  asking.begin()
  await vi.advanceTimersByTimeAsync(3600_000)
  const waits = asks.map((at, index) => at - (asks[index - 1] ?? 0))
  for (const [index, wait] of waits.entries()) {
    const longest = Math.min(3 * 2 ** index, 30)
    expect(wait).toBeGreaterThanOrEqual(longest / 2 - 0.001)
    expect(wait).toBeLessThanOrEqual(longest)
  }
  expect(new Set(waits.map(Math.round)).size).toBeGreaterThan(5)
  expect(asks.length).toBeLessThan(245)
})

test('with reason to hope the page asks at once, once, and then as at first', async () => {
  asking.begin()
  await vi.advanceTimersByTimeAsync(50_000)
  expect(asks).toEqual([3, 9, 21, 45])
  await Promise.all([asking.now(), asking.now()])
  expect(asks).toEqual([3, 9, 21, 45, 50])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asks).toEqual([3, 9, 21, 45, 50, 53, 59])
})

test('a page whose server is there asks nothing, and begins with a short wait next time', async () => {
  await asking.now()
  asking.begin()
  await vi.advanceTimersByTimeAsync(50_000)
  asking.end()
  await asking.now()
  asks.length = 0
  asking.begin()
  await vi.advanceTimersByTimeAsync(3000)
  expect(asks).toEqual([53])
})
