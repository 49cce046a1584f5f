/** Which replications run and which wait. */
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { RunQueue } from '../../src/replicator/run-queue.ts'

const forever = new AbortController().signal

test('one that leaves and enters at once comes after those who wait', async () => {
  const queue = new RunQueue(virtualEnvironment(), 1, 60_000)
  const order: string[] = []
  const first = await queue.acquire(forever)
  const others = ['b', 'c'].map(async (name) => {
    const permit = await queue.acquire(forever)
    order.push(name)
    permit.release()
  })
  first.release()
  // Twice is once.
  first.release()
  const again = queue.acquire(forever).then(() => order.push('a'))
  await Promise.all([...others, again])
  expect(order).toEqual(['b', 'c', 'a'])
})

test('the one that has run longest is asked to give way, and only while others wait', async () => {
  const clock = virtualEnvironment()
  const queue = new RunQueue(clock, 2, 60_000)
  const asked: string[] = []
  const entered = async (name: string): Promise<void> => {
    const permit = await queue.acquire(forever, () => {
      asked.push(name)
      permit.release()
    })
  }
  await queue.acquire(forever)
  await entered('a')
  await clock.advance(600_000)
  expect(asked).toEqual([])
  // It has had its turn.
  const second = entered('b')
  await clock.advance(0)
  await second
  expect(asked).toEqual(['a'])
  const others = [entered('c'), entered('d')]
  await clock.advance(59_999)
  expect(asked).toEqual(['a'])
  await clock.advance(1)
  expect(asked).toEqual(['a', 'b'])
  await clock.advance(60_000)
  await Promise.all(others)
  expect(asked).toEqual(['a', 'b', 'c'])
})

test('who is called off while waiting, or in the moment of getting a place, leaves it to the next', async () => {
  const queue = new RunQueue(virtualEnvironment(), 1, 60_000)
  const first = await queue.acquire(forever)
  const [waiting, promised] = [new AbortController(), new AbortController()]
  const called = [queue.acquire(waiting.signal), queue.acquire(promised.signal)]
  const last = queue.acquire(forever)
  waiting.abort()
  first.release()
  promised.abort()
  for (const permit of await Promise.all(called)) permit.release()
  ;(await last).release()
  ;(await queue.acquire(forever)).release()
})
