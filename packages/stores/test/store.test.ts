/** Goal: what a store promises to each of its listeners, whatever the others do. */
import { expect, onTestFinished, test } from 'vitest'
import { oneAtATime, storeOf } from '../src/store.ts'

/** The errors that nobody catches, until the end of the case. */
function uncaught(): unknown[] {
  const errors: unknown[] = []
  const former = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (error) => errors.push(error))
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection')
    for (const listener of former) process.on('unhandledRejection', listener)
  })
  return errors
}

test('a listener that throws stops no other, and its error is uncaught', async () => {
  const errors = uncaught()
  const store = storeOf(0)
  const seen: number[] = []
  const own = new Error('of the component')
  store.subscribe(() => {
    throw own
  })
  store.subscribe(() => seen.push(store.read()))
  store.show(1)
  store.show(2)
  expect(seen).toEqual([1, 2])
  await expect.poll(() => errors).toEqual([own, own])
})

test('a listener that subscribes twice is two, and the end of the last one ends the store', () => {
  let begun = 0
  let ended = 0
  const store = storeOf(0, () => {
    begun++
    return () => ended++
  })
  const listener = (): void => {}
  const stops = [store.subscribe(listener), store.subscribe(listener)]
  stops[0]!()
  stops[0]!()
  expect([begun, ended]).toEqual([1, 0])
  stops[1]!()
  expect([begun, ended]).toEqual([1, 1])
  store.subscribe(listener)()
  expect([begun, ended]).toEqual([2, 2])
})

test('what is shown after the end changes nothing', () => {
  let show = (_state: number): void => {}
  const store = storeOf(0, (given) => {
    show = given
    return () => {}
  })
  store.subscribe(() => {})()
  show(1)
  expect(store.read()).toBe(0)
})

test('work that is asked for while it runs runs once more, also after a failure', async () => {
  const errors = uncaught()
  const ends: ((error?: Error) => void)[] = []
  const ask = oneAtATime(
    () =>
      new Promise<void>((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error)))),
  )
  for (let times = 0; times < 3; times++) ask()
  expect(ends.length).toBe(1)
  ends[0]!()
  await expect.poll(() => ends.length).toBe(2)
  const failure = new Error('no network')
  ends[1]!(failure)
  await expect.poll(() => errors).toEqual([failure])
  ask()
  expect(ends.length).toBe(3)
  ends[2]!()
})
