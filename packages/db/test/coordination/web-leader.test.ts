/** Tabs that lead are tested in browsers (test/browser/); here are locks that no browser gives on demand. */
import { afterEach, expect, test, vi } from 'vitest'
import { WebLeader } from '../../src/database/coordination/web-leader.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'

afterEach(() => vi.unstubAllGlobals())

/** Of a page that goes away, in WebKit. */
test('a browser that refuses every lock at once is asked again after a pause, not without end', async () => {
  let asked = 0
  const request = async (): Promise<never> => {
    if (++asked > 100) await new Promise(() => {})
    throw new DOMException('The page goes away', 'AbortError')
  }
  vi.stubGlobal('navigator', { locks: { request } })
  const timers: (() => void)[] = []
  const environment = {
    ...systemEnvironment(),
    after: (_delayMs: number, callback: () => void) => {
      timers.push(callback)
      return () => void timers.splice(timers.indexOf(callback), 1)
    },
  }
  const leader = new WebLeader({ name: 'refused', environment, onChange: () => {}, tell: () => {} })
  const turn = async (): Promise<number> => {
    await environment.yield()
    return asked
  }
  await leader.want()
  const first = await turn()
  expect(first).toBeLessThan(5)
  expect(await turn()).toBe(first)
  timers.pop()!()
  expect(await turn()).toBe(first + 1)
  leader.close()
  timers.pop()!()
  expect(await turn()).toBe(first + 1)
})
