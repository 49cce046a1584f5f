/** Goal: a short timer of a pure file is reported, the rest of a limit is not. Method: timers that ring when the test says so. */
import { fileURLToPath } from 'node:url'
import { compileFunction } from 'node:vm'
import { expect, test } from 'vitest'
import { guardTimers, type Guard } from './setup/guard.ts'

/** A guard of this file, which is pure, over timers of a test's own. */
function guarded(isAwaited = true) {
  const rings: (() => void)[] = []
  const owner = {
    setTimeout: (callback: () => void, _ms: number): object => {
      rings.push(callback)
      return { hasRef: () => isAwaited }
    },
    clearTimeout: (_timer: object): void => {},
    setInterval: (_callback: () => void, _ms: number): void => {},
    clearInterval: (_timer: number): void => {},
  }
  const file = fileURLToPath(import.meta.url)
  const guard: Guard = { file, late: [], running: new Map(), timers: new Map(), doesLimitRing: false }
  guardTimers(owner, guard)
  return { guard, owner, ring: () => rings.shift()!() }
}

test('a short timer that rings counts as a pause', () => {
  const { guard, owner, ring } = guarded()
  owner.setTimeout(() => {}, 20)
  expect(guard.late).toEqual([])
  ring()
  expect(guard.late).toEqual([
    expect.stringMatching(/lane pure may not wait for a timer .*guard\.test\.ts:.*\(20 ms\)/),
  ])
})

test('the rest of a limit is allowed, a pause after it is reported', () => {
  const { guard, owner, ring } = guarded()
  let later = (): void => {}
  owner.setTimeout(() => {
    owner.setTimeout(() => owner.setTimeout(() => {}, 2), 190)
    later = () => void owner.setTimeout(() => {}, 20)
  }, 5000)
  ring()
  ring()
  ring()
  expect(guard.late).toEqual([])
  later()
  ring()
  expect(guard.late).toHaveLength(1)
})

test('a timer of a library is reported if somebody waits for it', () => {
  const set = compileFunction('owner.setTimeout(() => {}, 20)', ['owner'], {
    filename: '/node_modules/library/index.js',
  })
  for (const isAwaited of [true, false]) {
    const { guard, owner, ring } = guarded(isAwaited)
    set(owner)
    ring()
    expect(guard.late).toHaveLength(isAwaited ? 1 : 0)
  }
})

test('a timer that the file before has set is not reported', () => {
  const { guard, owner, ring } = guarded()
  owner.setTimeout(() => {}, 20)
  guard.file = 'next.test.ts'
  ring()
  expect(guard.late).toEqual([])
})
