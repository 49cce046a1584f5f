/** Thousands of feeds that have something to do at the same time: others run in between. */
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { beforeEach, expect, test } from 'vitest'
import { FeedSchedule } from '../../src/couch/feed-schedule.ts'

let clock: VirtualEnvironment
let schedule: FeedSchedule

beforeEach(() => {
  clock = virtualEnvironment()
  schedule = new FeedSchedule(clock)
})

test('readers have one pass of the event loop each, in their order', async () => {
  const read: number[] = []
  const all = Promise.all(Array.from({ length: 100 }, (_, at) => schedule.toRead().then(() => read.push(at))))
  let others = 0
  while (read.length < 100) {
    const before = read.length
    await clock.yield()
    others++
    expect(read.length - before).toBeLessThanOrEqual(2)
  }
  await all
  expect(others).toBeGreaterThanOrEqual(50)
  expect(read).toEqual(Array.from({ length: 100 }, (_, at) => at))
  await schedule.toRead()
})

test('waiting requests are answered in time, some at once, and not once they have left', async () => {
  let turn = 0
  const yieldTurn = (): Promise<void> => {
    turn++
    return clock.yield()
  }
  schedule = new FeedSchedule({ ...clock, yield: yieldTurn })
  const told: string[] = []
  const inTurns: number[] = []
  for (let at = 0; at < 120; at++) schedule.after(5000, () => (inTurns[turn] = (inTurns[turn] ?? 0) + 1))
  schedule.after(100, () => told.push('soon'))
  schedule.after(100, () => told.push('left'))()
  await clock.advance(250)
  expect(told).toEqual(['soon'])
  await clock.advance(4749)
  expect(inTurns).toEqual([])
  await clock.advance(1)
  expect(inTurns).toEqual([50, 50, 20])
  expect(told).toEqual(['soon'])
})

test('one timer serves all, and none runs when nobody waits', async () => {
  const stops = Array.from({ length: 3000 }, () => schedule.after(60_000, () => {}))
  expect(clock.timerCount).toBe(1)
  for (const stop of stops) stop()
  await clock.advance(250)
  expect(clock.timerCount).toBe(0)
})
