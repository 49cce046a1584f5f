/** Goal: a store hears of an append when its write is asked for, if that can follow at once. */
import { expect, test } from 'vitest'
import { open } from '../../src/database/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { PageStore, Storage } from '../../src/storage/page-store.ts'

test('an append is expected as soon as its write is asked for, when nothing has to be waited for', async () => {
  const heard: string[] = []
  const inner = memory()
  const storage: Storage = {
    kind: inner.kind,
    scope: inner.scope,
    identify: (name) => inner.identify(name),
    destroy: (name) => inner.destroy(name),
    open: async (name) => listening(await inner.open(name), heard),
  }
  const db = await open('expected', { storage })
  const people = db.collection<{ _id: string }>('people')
  await people.insert({ _id: 'a' })
  await people.insert({ _id: 'b' })
  expect(heard, 'the first waits for its turn and for code, and the next one is careful').toEqual([
    'append 1',
    'append 2',
  ])
  heard.length = 0
  await people.insert({ _id: 'c' })
  await expect(people.insert({ _id: 'a' })).rejects.toThrow('a')
  await Promise.all([people.insert({ _id: 'd' }), people.insert({ _id: 'e' })])
  await people.update('a', (person) => person)
  expect(heard).toEqual(['expect 3', 'append 3', 'expect 4', 'expect 4', 'append 4', 'expect 5', 'append 5'])
  await db.close()
})

function listening(store: PageStore, heard: string[]): PageStore {
  const append = store.append.bind(store)
  store.append = (record, ...rest) => {
    heard.push(`append ${record.sequence}`)
    return append(record, ...rest)
  }
  store.expectAppend = (sequence) => void heard.push(`expect ${sequence}`)
  return store
}
