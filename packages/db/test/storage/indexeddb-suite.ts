/** Goal: the life of connections, which only IndexedDB has: lost, blocked, hanging, destroyed, and not there at all. */
import { indexedDb } from '../../src/storage/indexeddb/indexeddb.ts'
import { assertDefined, assertEqual, assertRejects } from '../../testing/check.ts'
import {
  appendRange,
  assertRefused,
  metaAndLog,
  pageIds,
  someBytes,
  someCommit,
  someMeta,
  somePage,
  someRecord,
} from '../../testing/conformance/page-store-fixture.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import type { Test } from '../../testing/suite.ts'

let databases = 0

function newName(): string {
  return `storage-${++databases}`
}

/** Runs `body` and gives every connection that was opened in it, as the engine's own objects. */
async function capturing<T>(body: () => Promise<T>): Promise<{ result: T; connections: IDBDatabase[] }> {
  const connections: IDBDatabase[] = []
  const { open } = IDBFactory.prototype
  IDBFactory.prototype.open = function (this: IDBFactory, ...parameters: [string, number?]) {
    const request = open.apply(this, parameters)
    request.addEventListener('success', () => connections.push(request.result))
    return request
  }
  try {
    return { result: await body(), connections }
  } finally {
    IDBFactory.prototype.open = open
  }
}

/** A connection that does not react when others ask it to let go, as that of a frozen tab. */
function openRaw(
  name: string,
  version?: number,
  upgrade: (database: IDBDatabase) => void = () => {},
): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(`pannier:${name}`, version)
    request.onupgradeneeded = () => upgrade(request.result)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error as Error)
  })
}

async function exists(name: string): Promise<boolean> {
  return (await indexedDB.databases()).some((database) => database.name === `pannier:${name}`)
}

/** With `indexedDB` replaced as long as `body` runs. */
async function withFactory(factory: unknown, body: () => Promise<unknown>): Promise<void> {
  const real = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB')
  assertDefined(real)
  Object.defineProperty(globalThis, 'indexedDB', { value: factory, configurable: true })
  try {
    await body()
  } finally {
    Object.defineProperty(globalThis, 'indexedDB', real)
  }
}

export function indexedDbSuite({ test }: { readonly test: Test }): void {
  pageStoreSuite({ test, create: async () => ({ storage: indexedDb(), name: newName() }) })
  lostConnectionCases(test)
  fenceCases(test)
  openCases(test)
}

/** What only the fence by generated keys can meet: records that were refused and stay in the log. */
function fenceCases(test: Test): void {
  const storage = indexedDb()

  /** Two handles. The second one has appended record 2; the first one has not seen it and tried the same: key 3. */
  async function withRefusedRecord(body: (first: PageStore, second: PageStore, name: string) => Promise<void>) {
    const name = newName()
    const [first, second] = [await storage.open(name), await storage.open(name)]
    await first.read()
    await first.append(someRecord(1), 'relaxed')
    await first.read()
    await second.read()
    await second.append(someRecord(2), 'relaxed')
    await assertRefused('PANNIER_STALE', () => first.append(someRecord(2, 20), 'relaxed'))
    assertEqual(await logKeys(name), [1, 2, 3])
    await body(first, second, name)
    await first.close()
    await second.close()
    await storage.destroy(name)
  }

  test('a record that was refused is skipped, and one behind it counts', () =>
    withRefusedRecord(async (first, second, name) => {
      await second.append(someRecord(3), 'relaxed')
      assertEqual(await logKeys(name), [1, 2, 3, 4])
      const log = [someRecord(1), someRecord(2), someRecord(3)]
      for (const store of [first, second]) assertEqual((await store.read()).log, log)
      await second.append(someRecord(4), 'relaxed')
      const third = await storage.open(name)
      assertEqual((await third.read()).log, [...log, someRecord(4)])
      await third.append(someRecord(5), 'relaxed')
      await assertRefused('PANNIER_STALE', () => second.append(someRecord(5, 20), 'relaxed'))
      await third.close()
    }))

  test('the newest record is found before one that was refused, also by who has read nothing', () =>
    withRefusedRecord(async (first, second, name) => {
      const third = await storage.open(name)
      await assertRefused('PANNIER_STALE', () => third.append(someRecord(2, 20), 'relaxed'))
      await third.append(someRecord(3), 'relaxed')
      await assertRefused('PANNIER_STALE', () => first.append(someRecord(2, 20), 'relaxed'))
      assertEqual((await second.read()).log.length, 3)
      await third.close()
    }))

  test('a commit with its record follows one that was refused, and truncates both', () =>
    withRefusedRecord(async (first, second, name) => {
      await second.commit(someCommit(1, 3, { record: someRecord(3), pages: [somePage(1)] }))
      await appendRange(second, 4, 6)
      await second.commit(someCommit(2, 6))
      assertEqual(await metaAndLog(first), { meta: someMeta(2, 6), log: [] })
      await assertRefused('PANNIER_STALE', () => first.append(someRecord(6, 20), 'relaxed'))
      await first.append(someRecord(7), 'relaxed')
      assertEqual((await second.read()).log, [someRecord(7)])
      assertEqual(await logKeys(name), [6, 7, 8])
    }))

  test('an append whose record is gone before it is judged has no known outcome', () =>
    withRefusedRecord(async (first, second, name) => {
      await first.read()
      await second.append(someRecord(3), 'relaxed')
      const raw = await openRaw(name)
      const late = assertRefused('PANNIER_IO_FAILED', () => first.append(someRecord(3, 20), 'relaxed'))
      raw.transaction('log', 'readwrite').objectStore('log').delete(5)
      await late
      raw.close()
      await first.append(someRecord(4), 'relaxed')
    }))
}

async function logKeys(name: string): Promise<IDBValidKey[]> {
  const raw = await openRaw(name)
  const keys = raw.transaction('log').objectStore('log').getAllKeys()
  await new Promise((resolve) => (keys.onsuccess = resolve))
  raw.close()
  return keys.result.filter((key) => typeof key === 'number')
}

function lostConnectionCases(test: Test): void {
  const storage = indexedDb()

  for (const event of [true, false]) {
    test(`a connection closed underneath is opened again (${event ? 'with' : 'without'} an event)`, async () => {
      const name = newName()
      const { result: store, connections } = await capturing(() => storage.open(name))
      const lose = (connection: IDBDatabase): void => {
        connection.close()
        if (event) connection.dispatchEvent(new Event('close'))
      }
      await store.read()
      await appendRange(store, 1, 2)
      lose(connections[0]!)
      const again = await capturing(async () => store.append(someRecord(3), 'relaxed'))
      assertEqual(again.connections.length, 1)
      lose(again.connections[0]!)
      assertEqual((await store.read()).log.length, 3)
      await store.commit(someCommit(1, 3, { pages: [somePage(1)] }))
      assertEqual(await store.readPages(pageIds(1)), [somePage(1).bytes])
      await store.close()
      await storage.destroy(name)
    })
  }

  test('a database that was destroyed meanwhile is not made again by a late call', async () => {
    const name = newName()
    const { result: store, connections } = await capturing(() => storage.open(name))
    await store.read()
    await appendRange(store, 1, 2)
    connections[0]!.close()
    await storage.destroy(name)
    await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(3), 'relaxed'))
    await assertRefused('PANNIER_CLOSED', () => store.read())
    assertEqual(await exists(name), false)
  })

  test('nor is another one taken for it that has its name', async () => {
    const name = newName()
    const { result: store, connections } = await capturing(() => storage.open(name))
    await store.read()
    await appendRange(store, 1, 2)
    connections[0]!.close()
    await storage.destroy(name)
    const other = await storage.open(name)
    await appendRange(other, 1, 2)
    await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(3), 'relaxed'))
    await assertRefused('PANNIER_CLOSED', () => store.readPages(pageIds(1)))
    assertEqual((await other.read()).log.length, 2)
    await other.close()
    await storage.destroy(name)
  })

  test('what a commit freed is deleted by the next one if the tab died in between', async () => {
    const name = newName()
    const store = await storage.open(name)
    await appendRange(store, 1, 3)
    await store.commit(someCommit(1, 1, { pages: [1, 2, 3, 4].map((id) => somePage(id)) }))
    const raw = await openRaw(name)
    // As it is left when only the first transaction of a commit was made.
    const transaction = raw.transaction(['meta', 'log'], 'readwrite')
    transaction.objectStore('meta').put({ ...someMeta(2, 3), freed: pageIds(1, 2) }, 'meta')
    await new Promise((resolve) => (transaction.oncomplete = resolve))
    assertEqual(await store.listPages(), pageIds(3, 4))
    assertEqual(await metaAndLog(store), { meta: someMeta(2, 3), log: [] })
    await store.commit(someCommit(3, 3, { pages: [somePage(5)] }))
    const keys = raw.transaction('pages').objectStore('pages').getAllKeys()
    await new Promise((resolve) => (keys.onsuccess = resolve))
    assertEqual(keys.result, pageIds(3, 4, 5))
    raw.close()
    await store.close()
    await storage.destroy(name)
  })
}

function openCases(test: Test): void {
  test('destroying what a frozen tab holds fails, and happens when it lets go', async () => {
    const name = newName()
    const storage = indexedDb({ openMsMax: 200 })
    await (await storage.open(name)).close()
    const frozen = await openRaw(name)
    await assertRejects(storage.destroy(name), 'PANNIER_BLOCKED')
    await assertRejects(storage.open(name), 'PANNIER_OPEN_FAILED')
    frozen.close()
    const store = await indexedDb().open(name)
    assertEqual(await metaAndLog(store), { meta: undefined, log: [] })
    await store.close()
    await storage.destroy(name)
  })

  test('a database of somebody else, or of a newer version, is refused', async () => {
    const storage = indexedDb()
    const [foreign, newer] = [newName(), newName()]
    ;(await openRaw(foreign, 1, (database) => database.createObjectStore('other'))).close()
    ;(await openRaw(newer, 99, (database) => database.createObjectStore('pages'))).close()
    await assertRejects(storage.open(foreign), 'PANNIER_FORMAT_WRONG')
    await assertRejects(storage.open(newer), 'PANNIER_FORMAT_NEWER')
    await storage.destroy(foreign)
    await storage.destroy(newer)
  })

  test('a database of version 1 is brought up to date', async () => {
    const name = newName()
    const first = await openRaw(name, 1, (database) => {
      database.createObjectStore('pages').put(somePage(1).bytes, 1)
      const log = database.createObjectStore('log')
      log.put(0, 'end')
      for (const { sequence, bytes } of [3, 5, 6, 7].map((one) => someRecord(one))) log.put(bytes, sequence)
      log.put(someBytes(1, 60), [5])
      const meta = database.createObjectStore('meta')
      meta.put('identity', 'identity')
      meta.put({ ...someMeta(1, 5), freed: [] }, 'meta')
    })
    first.close()
    const [store, other] = [await indexedDb().open(name), await indexedDb().open(name)]
    for (const handle of [store, other]) {
      const { meta, log, logSeal } = await handle.read()
      assertEqual([meta, log, logSeal], [someMeta(1, 5), [someRecord(6), someRecord(7)], someBytes(1, 60)])
    }
    assertEqual(await store.readPages(pageIds(1)), [somePage(1).bytes])
    await store.append(someRecord(8), 'relaxed')
    await assertRefused('PANNIER_STALE', () => other.append(someRecord(8, 20), 'relaxed'))
    await store.commit(someCommit(2, 8))
    assertEqual(await metaAndLog(other), { meta: someMeta(2, 8), log: [] })
    await store.close()
    await other.close()
    await indexedDb().destroy(name)
  })

  test('without IndexedDB, or where it may not be used, storage is unavailable', async () => {
    const storage = indexedDb()
    await withFactory(undefined, async () => {
      await assertRejects(storage.open('none'), 'PANNIER_UNAVAILABLE')
      await assertRejects(storage.destroy('none'), 'PANNIER_UNAVAILABLE')
    })
    const refuse = (): never => {
      throw new DOMException('The operation is insecure.', 'SecurityError')
    }
    await withFactory({ open: refuse, deleteDatabase: refuse }, async () => {
      await assertRejects(storage.open('none'), 'PANNIER_UNAVAILABLE')
    })
  })
}
