/** Tabs that lead are tested in browsers (test/browser/); here are locks that no browser gives on demand. */
import { afterEach, expect, test, vi } from 'vitest'
import { WebLeader } from '../../src/database/coordination/web-leader.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'

afterEach(() => vi.unstubAllGlobals())

/** Of a page that goes away, in WebKit. */
test('a browser that refuses every lock at once is asked again after a pause, not without end', async () => {
  let asked = 0
  const request = async (): Promise<never> => {
    if (++asked > 100) await new Promise(() => {})
    throw new DOMException('The page goes away', 'AbortError')
  }
  vi.stubGlobal('navigator', { locks: { request } })
  const environment = virtualEnvironment()
  const leader = new WebLeader({ name: 'refused', environment, onChange: () => {}, tell: () => {} })
  await leader.want()
  await environment.idle()
  const first = asked
  expect(first).toBeLessThan(5)
  await environment.until(() => asked === first + 1)
  leader.close()
  await environment.advance(60_000)
  expect(asked).toBe(first + 1)
})
