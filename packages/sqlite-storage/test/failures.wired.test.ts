/** Goal: each failure of an SQLite has the library's code, whatever the driver says of it. */
import { isPannierError } from 'pannier'
import { expect, test } from 'vitest'
import { someCommit, somePage, someRecord } from '../../db/testing/conformance/page-store-fixture.ts'
import { durableObject, sqliteStorage, type SqliteDriver, type SqliteFile } from '../src/index.ts'
import { durableShape, nodeDriver } from './shapes.ts'

/** A driver in memory whose statements fail while `sentence` is set. */
function failing(): { readonly driver: SqliteDriver; sentence: string | undefined } {
  const state = {
    sentence: undefined as string | undefined,
    driver: {
      ...nodeDriver,
      open(): SqliteFile {
        const file = nodeDriver.open(':memory:')
        const fails = <T>(body: () => T): T => {
          if (state.sentence !== undefined) throw new Error(state.sentence)
          return body()
        }
        return {
          all: (sql, parameters) => fails(() => file.all(sql, parameters)),
          run: (sql, parameters) => fails(() => file.run(sql, parameters)),
          close: () => file.close(),
        }
      },
      destroy: () => {},
    },
  }
  return state
}

test.for([
  ['Error code 13: database or disk is full', 'PANNIER_QUOTA_EXCEEDED'],
  ['[op-sqlite] statement execution error: database or disk is full', 'PANNIER_QUOTA_EXCEEDED'],
  ['database or disk is full: SQLITE_FULL', 'PANNIER_QUOTA_EXCEEDED'],
  ['Error code 5: database is locked', 'PANNIER_LOCKED'],
  ['database table is locked', 'PANNIER_LOCKED'],
  ['[op-sqlite] sqlite query error: database disk image is malformed', 'PANNIER_CORRUPT'],
  ['Error code 20: datatype mismatch', 'PANNIER_CORRUPT'],
  ['no such table: pages', 'PANNIER_CORRUPT'],
  ['Error code 10: disk I/O error', 'PANNIER_IO_FAILED'],
] as const)('"%s" becomes %s', async ([sentence, code]) => {
  const state = failing()
  const store = await sqliteStorage(state.driver).open('a')
  await store.append(someRecord(1), 'relaxed')
  state.sentence = sentence
  for (const call of [
    () => store.append(someRecord(2), 'strict'),
    () => store.commit(someCommit(1, 1, { pages: [somePage(1)] })),
    () => store.read(),
  ])
    await expect((async () => call())()).rejects.toSatisfy((error) => isPannierError(error, code))
  state.sentence = undefined
  expect((await store.read()).log).toEqual([someRecord(1)])
  await store.append(someRecord(2), 'relaxed')
  await store.close()
})

test('an SQLite that fails at opening leaves no handle, and can be opened later', async () => {
  const state = failing()
  const storage = sqliteStorage(state.driver)
  state.sentence = 'Error code 14: unable to open database file'
  await expect(storage.open('a')).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
  state.sentence = undefined
  await (await storage.open('a')).close()
})

test('a Durable Object has several databases, beside tables of its own', async () => {
  const place = durableShape()
  place.sql.exec('CREATE TABLE log (text TEXT)')
  const storage = durableObject(place)
  const [odd, other] = [await storage.open('it\'s "odd"'), await storage.open('other')]
  await odd.append(someRecord(1), 'relaxed')
  expect((await other.read()).log).toEqual([])
  expect([await storage.has('other'), await storage.has('nobody')]).toEqual([true, false])
  await other.close()
  await storage.destroy('other')
  expect(await storage.has('other')).toBe(false)
  expect((await odd.read()).log).toEqual([someRecord(1)])
  await odd.close()
  await storage.destroy('it\'s "odd"')
  expect(place.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([{ name: 'log' }])
})

test('a strict write of a Durable Object waits until it is on disks; a relaxed one does not', async () => {
  const place = durableShape()
  let disk = Promise.withResolvers<void>()
  const store = await durableObject({ ...place, sync: () => disk.promise }).open('a')
  await store.append(someRecord(1), 'relaxed')
  let isDurable = false
  const written = (async () => {
    await store.append(someRecord(2), 'strict')
    isDurable = true
  })()
  await Promise.resolve()
  expect(isDurable).toBe(false)
  disk.resolve()
  await written
  disk = Promise.withResolvers()
  disk.reject(new Error('Internal error in Durable Object storage caused object to be reset.'))
  await expect(store.append(someRecord(3), 'strict')).rejects.toMatchObject({ code: 'PANNIER_IO_FAILED' })
})

test('two Durable Objects of one process have databases of their own', async () => {
  const [one, two] = [durableObject(durableShape()), durableObject(durableShape())]
  expect(one.identify('a')).not.toBe(two.identify('a'))
  const [first, second] = [await one.open('a'), await two.open('a')]
  await first.append(someRecord(1), 'relaxed')
  expect((await second.read()).log).toEqual([])
})
