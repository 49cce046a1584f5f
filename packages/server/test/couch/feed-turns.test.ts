/** Thousands of feeds that have something to do at the same time: others have turns in between. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FeedTurns } from '../../src/couch/feed-turns.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('readers have one turn of the event loop each, in their order', async () => {
  const turns = new FeedTurns()
  const read: number[] = []
  const all = Promise.all(Array.from({ length: 100 }, (_, at) => turns.toRead().then(() => read.push(at))))
  let others = 0
  while (read.length < 100) {
    const before = read.length
    await nextTurn()
    others++
    expect(read.length - before).toBeLessThanOrEqual(2)
  }
  await all
  expect(others).toBeGreaterThanOrEqual(50)
  expect(read).toEqual(Array.from({ length: 100 }, (_, at) => at))
  await turns.toRead()
})

test('waiting requests are answered in time, some in one turn, and not once they have left', async () => {
  const turns = new FeedTurns()
  const told: string[] = []
  for (let at = 0; at < 120; at++) turns.after(5000, () => told.push('late'))
  turns.after(100, () => told.push('soon'))
  turns.after(100, () => told.push('left'))()
  vi.advanceTimersByTime(250)
  expect(told).toEqual(['soon'])
  vi.advanceTimersByTime(4500)
  expect(told).toHaveLength(1)
  vi.advanceTimersByTime(250)
  const inTurns = [told.length]
  while (told.length < 121) {
    await nextTurn()
    inTurns.push(told.length)
  }
  expect(inTurns[0]).toBe(51)
  expect(told.filter((one) => one === 'late')).toHaveLength(120)
})

test('one timer serves all, and none runs when nobody waits', () => {
  const turns = new FeedTurns()
  const stops = Array.from({ length: 3000 }, () => turns.after(60_000, () => {}))
  expect(vi.getTimerCount()).toBe(1)
  for (const stop of stops) stop()
  vi.advanceTimersByTime(250)
  expect(vi.getTimerCount()).toBe(0)
})
