/**
 * Goal: whoever awaits one answer after another of the files in its own thread lets others have it now and then, and everything is
 * heard in order. The far end is replaced by one that answers at once, as files do.
 */
import { expect, test, vi } from 'vitest'
import { OwnThread } from '../../src/storage/opfs/own-thread.ts'
import type { Answer, ToWorker } from '../../src/storage/opfs/protocol.ts'
import type { Post } from '../../src/storage/opfs/host.ts'

vi.mock('../../src/storage/opfs/serve.ts', () => ({
  serve: (post: Post) => (message: ToWorker) => {
    if (typeof message === 'object' && 'id' in message) post({ id: message.id, value: message.id })
  },
}))

const CALLS = 320

function threadWithAnswers(): { thread: OwnThread; ask: (id: number) => Promise<unknown>; order: number[] } {
  const thread = new OwnThread()
  const waiting = new Map<number, (value: unknown) => void>()
  const order: number[] = []
  thread.onmessage = ({ data }) => {
    const { id, value } = data as Answer
    order.push(id)
    waiting.get(id)!(value)
  }
  const ask = (id: number): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(id, resolve)
      thread.postMessage({ id, method: 'listPages', parameters: [] }, [])
    })
  return { thread, ask, order }
}

test('some messages in a row are heard at once, the next ones in a later task', async () => {
  const { thread, ask, order } = threadWithAnswers()
  const all = Promise.all(Array.from({ length: CALLS }, (_, id) => ask(id)))
  expect(order.length).toBe(32)
  await Promise.resolve()
  expect(order.length).toBe(32)
  await all
  for (let id = CALLS; id < 2 * CALLS; id++) await ask(id)
  thread.terminate()
  expect(order).toEqual(Array.from({ length: 2 * CALLS }, (_, id) => id))
})
