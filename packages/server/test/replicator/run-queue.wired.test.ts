/** Which replications run and which wait. No test waits for more than a millisecond. */
import { expect, test } from 'vitest'
import { RunQueue } from '../../src/replicator/run-queue.ts'
import { until } from '../test-server.ts'

const forever = new AbortController().signal

test('one that leaves and enters at once comes after those who wait', async () => {
  const queue = new RunQueue(1, 60_000)
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
  const queue = new RunQueue(2, 1)
  const asked: string[] = []
  const entered = async (name: string): Promise<void> => {
    const permit = await queue.acquire(forever, () => {
      asked.push(name)
      permit.release()
    })
  }
  await queue.acquire(forever)
  await entered('a')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(asked).toEqual([])
  const third = entered('b')
  await until(() => asked.length === 1)
  await third
  await Promise.all([entered('c'), entered('d')])
  expect(asked).toEqual(['a', 'b', 'c'])
})

test('who is called off while waiting, or in the moment of getting a place, leaves it to the next', async () => {
  const queue = new RunQueue(1, 60_000)
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
