/** Goal: the function that starts the worker of files is believed nothing: what it gives is looked at, and what it throws is kept. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { opfs } from '../../src/storage/opfs/opfs.ts'

beforeEach(() => {
  vi.stubGlobal('navigator', { storage: { getDirectory: async () => ({}) } })
  vi.stubGlobal('Worker', class {})
})
afterEach(() => vi.unstubAllGlobals())

function opened(worker: unknown): Promise<unknown> {
  return open('x', { storage: opfs({ worker } as never) })
}

test.each([
  ['nothing', () => undefined],
  ['null', () => null],
  ['a promise of a worker', async () => ({ postMessage: () => {} })],
  ['a URL', () => new URL('https://example.org')],
])('a worker that is %s is an error', async (_, worker) => {
  await expect(opened(worker)).rejects.toThrow('opfs(): worker must return a Worker')
})

test('what it throws is the cause of an error that says so', async () => {
  const cause = new Error('no worker today')
  const throwing = (): never => {
    throw cause
  }
  await expect(opened(throwing)).rejects.toMatchObject({ code: 'PANNIER_UNAVAILABLE', cause })
})
