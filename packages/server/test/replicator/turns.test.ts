/** Who runs and who waits. No test waits for more than a turn of a millisecond. */
import { expect, test } from 'vitest'
import { Turns } from '../../src/replicator/turns.ts'
import { until } from '../test-server.ts'

const forever = new AbortController().signal

test('one that leaves and enters at once comes after those who wait', async () => {
  const turns = new Turns(1, 60_000)
  const order: string[] = []
  const first = await turns.enter(forever)
  const others = ['b', 'c'].map(async (name) => {
    const turn = await turns.enter(forever)
    order.push(name)
    turn.leave()
  })
  first.leave()
  // Twice is once.
  first.leave()
  const again = turns.enter(forever).then(() => order.push('a'))
  await Promise.all([...others, again])
  expect(order).toEqual(['b', 'c', 'a'])
})

test('the one that has run longest is asked to give way, and only while others wait', async () => {
  const turns = new Turns(2, 1)
  const asked: string[] = []
  const entered = async (name: string): Promise<void> => {
    const turn = await turns.enter(forever, () => {
      asked.push(name)
      turn.leave()
    })
  }
  await turns.enter(forever)
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
  const turns = new Turns(1, 60_000)
  const first = await turns.enter(forever)
  const [waiting, promised] = [new AbortController(), new AbortController()]
  const called = [turns.enter(waiting.signal), turns.enter(promised.signal)]
  const last = turns.enter(forever)
  waiting.abort()
  first.leave()
  promised.abort()
  for (const turn of await Promise.all(called)) turn.leave()
  ;(await last).leave()
  ;(await turns.enter(forever)).leave()
})
