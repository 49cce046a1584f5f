/** Goal: what a handle has asked for, and gets late, can be read: the handle, and the keys, may have gone on since. */
import { expect, test } from 'vitest'
import { open } from '../../../src/database/lifecycle/open.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import type { PageStore, DatabaseStorage } from '../../../src/storage/page-store.ts'
import { someCommit, someMeta, someRecord } from '../../../testing/conformance/page-store-fixture.ts'
import { deviceKey, encrypted } from './fixture.ts'

test('pages that come when the key they are sealed with is gone', async () => {
  const storage = memory()
  const encryption = { key: deviceKey }
  const first = await open('notes', { storage, encryption })
  await first.collection('notes').insert([{ _id: 'a' }, { _id: 'b' }])
  await first.flush()
  const { late, hold, release } = withLate(storage, 'readPages')
  const second = await open('notes', { storage: late, encryption })
  const asked = hold()
  const listed = second.collection('notes').list().toArray()
  await asked
  await first.encryption!.rotateKey()
  expect((await second.encryption!.info()).isRotating).toBe(false)
  release()
  expect((await listed).map(({ id }) => id)).toEqual(['a', 'b'])
  await Promise.all([first.close(), second.close()])
})

test('a log of before a storage checkpoint that was read meanwhile', async () => {
  const storage = memory()
  const first = await encrypted(storage).open('notes')
  await first.read()
  await first.append(someRecord(1), 'relaxed')
  const { late, hold, release } = withLate(storage, 'read')
  const second = await encrypted(late).open('notes')
  await second.read()
  await first.append(someRecord(2), 'relaxed')
  void hold()
  const { generation, sequence } = someMeta(0, 1)
  const news = Promise.resolve(second.read({ generation, sequence }))
  await first.commit(someCommit(1, 2))
  expect((await second.read()).meta).toEqual(someMeta(1, 2))
  release()
  expect((await news).log).toEqual([someRecord(2)])
})

interface Late {
  readonly late: DatabaseStorage
  /** The next answer to the call comes with `release`. Resolves when it was asked for. */
  hold(): Promise<void>
  release(): void
}

function withLate(storage: DatabaseStorage, call: 'read' | 'readPages'): Late {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isHolding = false
  const lateStore = (store: PageStore): PageStore =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...parameters: unknown[]): unknown => {
          const answer: unknown = member.apply(target, parameters)
          if (name !== call || !isHolding) return answer
          isHolding = false
          asked.resolve()
          return released.promise.then(() => answer)
        }
      },
    })
  return {
    late: {
      kind: storage.kind,
      scope: storage.scope,
      identify: (name) => storage.identify(name),
      has: (name) => storage.has(name),
      open: async (name) => lateStore(await storage.open(name)),
      destroy: (name) => storage.destroy(name),
    },
    hold() {
      isHolding = true
      return asked.promise
    },
    release: () => released.resolve(),
  }
}
