/** Goal: what a store promises to each of its listeners, whatever the others do. */
import { expect, onTestFinished, test, vi } from 'vitest'
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

test('listeners hear of the first change at once, of all others of a frame together, and of each in a hidden page', () => {
  const frames: (() => void)[] = []
  const page = { hidden: false }
  vi.stubGlobal('document', page)
  vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame))
  onTestFinished(() => void vi.unstubAllGlobals())
  let show = (_state: number): void => {}
  const store = storeOf(0, (given) => {
    show = given
    return () => {}
  })
  const seen: number[] = []
  const stop = store.subscribe(() => seen.push(store.read()))
  const nextFrame = (): void => {
    for (const frame of frames.splice(0)) frame()
  }
  for (let write = 1; write <= 100; write++) show(write)
  expect([seen, store.read()]).toEqual([[1], 100])
  nextFrame()
  expect(seen).toEqual([1, 100])
  nextFrame()
  expect(seen).toEqual([1, 100])
  show(101)
  expect(seen).toEqual([1, 100, 101])
  page.hidden = true
  for (let write = 201; write <= 203; write++) show(write)
  expect(seen).toEqual([1, 100, 101, 201, 202, 203])
  page.hidden = false
  show(204)
  stop()
  for (let frame = 0; frame < 3; frame++) nextFrame()
  expect([seen.at(-1), frames.length]).toEqual([203, 0])
})

test('a state that its owner alone changes is heard of at once', () => {
  vi.stubGlobal('document', { hidden: false })
  vi.stubGlobal('requestAnimationFrame', () => {})
  onTestFinished(() => void vi.unstubAllGlobals())
  const store = storeOf('')
  const seen: string[] = []
  store.subscribe(() => seen.push(store.read()))
  for (const typed of ['A', 'An', 'Ann']) store.show(typed)
  expect(seen).toEqual(['A', 'An', 'Ann'])
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
