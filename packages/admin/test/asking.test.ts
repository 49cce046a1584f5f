/** Goal: a page whose server is away asks for it rarely, and soon when there is reason to hope. */
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { Asking } from '../src/state/asking.ts'

const asks: number[] = []
let environment: VirtualEnvironment
let asking: Asking

function begin(chance?: Pick<VirtualEnvironment, 'randomBytes'>): void {
  environment = virtualEnvironment()
  asks.length = 0
  asking = new Asking({ ...environment, ...chance }, () => {
    asks.push(environment.now() / 1000)
    return Promise.reject(new Error('away'))
  })
}

const longest = { randomBytes: (length: number) => new Uint8Array(length).fill(255) }

test('the page asks after 3, 6, 12 and 24 seconds, then every 30', async () => {
  begin(longest)
  asking.begin()
  asking.begin()
  await environment.advance(135_000)
  expect(asks).toEqual([3, 9, 21, 45, 75, 105, 135])
  asking.end()
  await environment.advance(600_000)
  expect(asks).toHaveLength(7)
})

test('chance shortens a wait, to half of it at most: an hour has between 120 and 240 asks', async () => {
  begin()
  asking.begin()
  await environment.advance(3600_000)
  const waits = asks.map((at, index) => at - (asks[index - 1] ?? 0))
  for (const [index, wait] of waits.entries()) {
    const waitMax = Math.min(3 * 2 ** index, 30)
    expect(wait).toBeGreaterThanOrEqual(waitMax / 2 - 0.001)
    expect(wait).toBeLessThanOrEqual(waitMax)
  }
  expect(new Set(waits.map(Math.round)).size).toBeGreaterThan(5)
  expect(asks.length).toBeLessThan(245)
})

test('with reason to hope the page asks at once, once, and then as at first', async () => {
  begin(longest)
  asking.begin()
  await environment.advance(50_000)
  expect(asks).toEqual([3, 9, 21, 45])
  await Promise.all([asking.now(), asking.now()])
  expect(asks).toEqual([3, 9, 21, 45, 50])
  await environment.advance(10_000)
  expect(asks).toEqual([3, 9, 21, 45, 50, 53, 59])
})

test('a page whose server is there asks nothing, and begins with a short wait next time', async () => {
  begin(longest)
  await asking.now()
  asking.begin()
  await environment.advance(50_000)
  asking.end()
  await asking.now()
  asks.length = 0
  asking.begin()
  await environment.advance(3000)
  expect(asks).toEqual([53])
})
