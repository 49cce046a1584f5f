/**
 * Goal: whoever awaits one answer after another of the files in its own thread lets others have it now and then, and everything is
 * heard in order. The far end is replaced by one that answers at once, as files do.
 */
import { expect, test } from 'vitest'
import { importMutant } from '../../../../tools/test/mutants.ts'
import type * as ownThread from '../../src/storage/opfs/own-thread.ts'
import type { Answer } from '../../src/storage/opfs/protocol.ts'

const FILE = 'packages/db/src/storage/opfs/own-thread.ts'
const AT_ONCE = {
  file: FILE,
  text: "import { serve } from './serve.ts'",
  replacement: 'const serve = (post) => ({ id }) => id !== undefined && post({ id, value: id })',
}
const { OwnThread } = await importMutant<typeof ownThread>(FILE, AT_ONCE, [FILE])

const CALLS = 320

function threadWithAnswers(): { thread: ownThread.OwnThread; ask: (id: number) => Promise<unknown>; order: number[] } {
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
