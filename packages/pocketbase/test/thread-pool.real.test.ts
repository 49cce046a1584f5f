/** Goal: a handler that does not end, or ends its thread, holds up nobody. Method: functions in threads, and a virtual clock. */
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, expect, test } from 'vitest'
import { ThreadPool } from '../src/host/thread-pool.ts'
import type { DoneMessage } from '../src/protocol/messages.ts'

const MINUTE_MS = 60_000
const environment = virtualEnvironment()
const pool = new ThreadPool(environment, import.meta.dirname)

afterAll(() => pool.close())

/** Runs a function. `log()` in it is a call. */
function run(code: string, log: () => void = () => {}): Promise<DoneMessage> {
  const handler = { code, file: import.meta.filename, line: 1, column: 1 }
  return pool.run({ kind: 'handle', handler, event: undefined }, async () => {
    log()
    return {}
  })
}

test.for([
  ['computes', '() => { cronRemove("x"); for (;;) {} }'],
  ['waits for nothing', 'async () => { cronRemove("x"); await new Promise(() => {}) }'],
] as const)('a handler that %s for a minute is ended, and others run', async ([, code]) => {
  const begun = Promise.withResolvers<void>()
  const endless = run(code, begun.resolve)
  const ended = expect(endless).rejects.toThrow('The handler has computed for a minute, and was ended.')
  await begun.promise
  await run('() => {}')
  // The minute begins again with each call.
  await environment.yield()
  await environment.advance(MINUTE_MS)
  await ended
  expect(await run('() => {}')).toEqual({ kind: 'done', parts: undefined, heapBytes: expect.any(Number) })
})

test('a thread runs the next handler too, unless its heap is large', async () => {
  const look = '() => { if (globalThis.kept !== undefined) throw new Error("kept") }'
  await run('() => { globalThis.kept = [] }')
  expect(await run(look)).toMatchObject({ error: { message: 'kept' } })
  await run('() => { globalThis.kept = Array.from({ length: 3_000_000 }, (_, n) => ({ n })) }')
  expect((await run(look)).error).toBeUndefined()
})

test('as many threads as ran at once wait for the next handlers, and four of them after a while', async () => {
  const AT_ONCE = 10
  let known = 0
  const all = async (): Promise<number> => {
    known = 0
    const inside = Promise.withResolvers<void>()
    let begun = 0
    const one = (): Promise<DoneMessage> =>
      pool.run(
        { kind: 'handle', handler: { code, file: import.meta.filename, line: 1, column: 1 }, event: undefined },
        async (call) => {
          if (call.parameters[0] === 'known') known++
          if (++begun === AT_ONCE) inside.resolve()
          await inside.promise
          return {}
        },
      )
    const code = '() => { const text = globalThis.mark ? "known" : "new"; globalThis.mark = true; cronRemove(text) }'
    await Promise.all(Array.from({ length: AT_ONCE }, one))
    return known
  }
  await all()
  expect(await all()).toBe(AT_ONCE)
  await environment.advance(10_000)
  expect(await all()).toBe(4)
})

test.for([
  ['throws later', '() => { setTimeout(() => { throw new Error("late") }) }'],
  ['ends its thread', '() => { setTimeout(() => process.exit(1)) }'],
] as const)('a handler that %s takes at most the one along that its thread runs then', async ([, code]) => {
  let failures = 0
  const tried = async (code: string): Promise<boolean> => {
    try {
      await run(code)
      return true
    } catch {
      failures++
      return false
    }
  }
  for (let n = 0; n < 5; n++) {
    await tried(code)
    await tried('async () => { await new Promise((resolve) => setTimeout(resolve, 5)) }')
  }
  while (!(await tried('() => {}')));
  expect(failures).toBeLessThanOrEqual(5)
})
