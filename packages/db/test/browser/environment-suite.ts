/** What the other suites take for granted of the browser and of the page that they run in. */
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../../testing/check.ts'
import type { Test } from '../../testing/suite.ts'

export function environmentSuite({ test }: { readonly test: Test }): void {
  test('the page is isolated and secure', () => {
    assertTrue(isSecureContext, 'the context is secure')
    assertTrue(crossOriginIsolated, 'the page is isolated from other origins')
  })

  test('IndexedDB, Web Locks and BroadcastChannel exist', async () => {
    assertTrue(typeof BroadcastChannel === 'function', 'there is BroadcastChannel')
    const name = await navigator.locks.request('environment', (lock) => lock?.name)
    assertEqual(name, 'environment')
    const request = indexedDB.open('environment')
    await new Promise((resolve, reject) => {
      request.addEventListener('success', resolve)
      request.addEventListener('error', reject)
    })
    request.result.close()
    indexedDB.deleteDatabase('environment')
  })

  test('checks tell equal from different', async () => {
    assertEqual(
      { bytes: new Uint8Array([1, 2]), list: [1, { a: Number.NaN }] },
      { list: [1, { a: Number.NaN }], bytes: new Uint8Array([1, 2]) },
    )
    assertThrows(() => assertEqual(new Uint8Array([1]), new Uint8Array([2])), Error)
    assertThrows(() => assertEqual<unknown>({ a: undefined }, {}), Error)
    assertThrows(() => assertEqual(0, -0), Error)
    await assertRejects(
      Promise.reject(Object.assign(new Error('no'), { code: 'PANNIER_IO_FAILED' })),
      'PANNIER_IO_FAILED',
    )
  })
}
