/** The conformance suite of attachments, over the model of a key-value store and over the storage engine. */
import { expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { aMoment, prefixed } from '../../testing/suite.ts'

attachmentSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelDatabase({ missChance: 0.5, seed: 7 }),
})
attachmentSuite({ test: prefixed(test, 'engine'), create: () => open('x', { storage: memory() }) })

test('closing gives up what is being uploaded, and leaves nothing of it', async () => {
  const storage = memory()
  const db = await open('x', { storage })
  const stalled = new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(new Uint8Array(3_000_000)) })
  const written = expect(db.collection('docs').putAttachment('a', 'x', stalled)).rejects.toMatchObject({
    code: 'PANNIER_CLOSED',
  })
  for (let turn = 0; turn < 50; turn++) await aMoment()
  await db.close()
  await written
  const again = await open('x', { storage })
  expect((await again.check()).problems).toEqual([])
  expect(await again.collection('docs').get('a')).toBe(undefined)
  await again.close()
})
