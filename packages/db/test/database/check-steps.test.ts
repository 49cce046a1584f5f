/** Goal: a check lets others work between its steps, whatever it looks at, and ends when it is cancelled. */
import { expect, test, vi } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'

interface Person {
  readonly n: number
}

/** How often a check releases the thread, if each look at the clock finds a slice over. */
async function turnsOf(fill: (db: Database) => Promise<unknown>): Promise<number> {
  const environment = virtualEnvironment()
  const db = await open('steps', { storage: memory(), environment })
  await db.collection<Person>('people').insert(Array.from({ length: 3000 }, (_, n) => ({ n })))
  await fill(db)
  let ms = environment.now()
  vi.spyOn(environment, 'now').mockImplementation(() => (ms += 10))
  const turns = vi.spyOn(environment, 'yield')
  const { ok } = await db.check()
  expect(ok).toBe(true)
  const count = turns.mock.calls.length
  vi.restoreAllMocks()
  await db.close()
  return count
}

test('rows of views and content of attachments are read in steps', async () => {
  const bare = await turnsOf(async () => {})
  const withView = await turnsOf((db) =>
    db.collection<Person>('people').mapReduce({ version: '1', map: ({ n }, emit) => emit(n) }),
  )
  expect(withView - bare).toBeGreaterThan(20)
  const withContent = await turnsOf((db) =>
    db.collection<Person>('people').putAttachment('x', 'a.txt', new Uint8Array(3_000_000)),
  )
  expect(withContent - bare).toBeGreaterThan(10)
})

test('a listener of progress that throws fails no work, and least of all at its end', async () => {
  const uncaught = vi.spyOn(Promise, 'reject').mockReturnValue(new Promise(() => {}))
  const db = await open('steps', { storage: memory() })
  const onProgress = (): never => {
    throw new Error('of a listener')
  }
  await db.collection('people').insert({ _id: 'a' })
  expect((await db.check({ onProgress })).ok).toBe(true)
  expect(uncaught).toHaveBeenCalledWith(new Error('of a listener'))
  vi.restoreAllMocks()
  await db.close()
})
