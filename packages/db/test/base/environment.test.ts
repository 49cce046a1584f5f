/** Goal: what waits by the environment ends when it should, and leaves no timer and no listener behind. */
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { every, pause } from '../../src/base/environment.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'

test('a pause ends with its time or with its signal, and leaves nothing behind', async () => {
  const clock = virtualEnvironment()
  const end = new AbortController()
  const listening = (): number => getEventListeners(end.signal, 'abort').length
  const ended: string[] = []
  const wait = async (name: string, ms: number): Promise<void> => {
    await pause(clock, ms, end.signal)
    ended.push(`${name} at ${clock.now()}`)
  }
  const waiting = [wait('short', 10), wait('long', 1000)]
  await clock.advance(50)
  expect([ended, listening()]).toEqual([['short at 10'], 1])
  end.abort()
  await Promise.all([...waiting, wait('late', 1000)])
  expect(ended.toSorted()).toEqual(['late at 50', 'long at 50', 'short at 10'])
  expect([clock.timerCount, listening()]).toEqual([0, 0])
})

test('every calls back again and again until it is ended', async () => {
  const clock = virtualEnvironment()
  let calls = 0
  const end = every(clock, 100, () => {
    if (++calls === 3) end()
  })
  await clock.advance(1000)
  expect([calls, clock.timerCount]).toEqual([3, 0])
})

test('a timer keeps a Node process alive only while somebody awaits it', () => {
  const { after } = systemEnvironment()
  const alive = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = alive()
  const cancels = [after(60_000, () => {})]
  expect(alive()).toBe(before)
  cancels.push(after(60_000, () => {}, true))
  expect(alive()).toBe(before + 1)
  for (const cancel of cancels) cancel()
  expect(alive()).toBe(before)
})
