/** Goal: each storage keeps the contract of page stores, and what only files or Durable Objects have. Method: over Node's SQLite. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open } from 'pannier'
import { sqlite } from 'pannier/sqlite'
import type { DatabaseStorage } from 'pannier/storage'
import { afterAll, describe, expect, test } from 'vitest'
import { someCommit, somePage, someRecord, pageIds } from '../../db/testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../db/testing/conformance/page-store.ts'
import { durableObject, expoSqlite, opSqlite, sqliteStorage } from '../src/index.ts'
import { durableShape, expoShape, nodeDriver, opShape } from './shapes.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-sqlite-storage-'))
afterAll(() => rmSync(folder, { recursive: true }))

const inFolder = sqliteStorage({
  ...nodeDriver,
  open: (name) => nodeDriver.open(join(folder, name)),
  destroy: (name) => nodeDriver.destroy(join(folder, name)),
  has: (name) => existsSync(join(folder, name)),
})
const FILES: readonly (readonly [string, DatabaseStorage])[] = [
  ['expo-sqlite', expoSqlite(expoShape(folder))],
  ['op-sqlite', opSqlite(opShape(folder))],
  ['a driver', inFolder],
]
const ALL = [...FILES, ['durable-object', durableObject(durableShape())]] as const

let names = 0
const newName = (): string => `${++names}.db`

describe.for(ALL)('%s', ([, storage]) => {
  pageStoreSuite({ test, create: async () => ({ storage, name: newName() }) })

  test('handles of one process share the database, which is closed with the last of them', async () => {
    const name = newName()
    const [first, second] = [await storage.open(name), await storage.open(name)]
    await first.append(someRecord(1), 'relaxed')
    await first.close()
    await second.append(someRecord(2), 'strict')
    await second.close()
    const again = await storage.open(name)
    expect((await again.read()).log).toEqual([someRecord(1), someRecord(2)])
    await again.close()
    await storage.destroy(name)
  })

  test('a database finds what was written by a query, also after it was closed', async () => {
    const name = newName()
    const db = await open(name, { storage })
    await db.collection<{ city: string }>('people').insert(['Bern', 'Paris', 'Bern'].map((city) => ({ city })))
    await db.close()
    const again = await open(name, { storage })
    expect(await again.collection<{ city: string }>('people').find({ city: 'Bern' }).count()).toBe(2)
    await again.destroy()
  })

  test('an encrypted database has no plain text', async () => {
    const name = newName()
    const db = await open(name, { storage, encryption: { password: 'correct horse battery staple' } })
    await db.collection('people').insert({ _id: 'a', name: 'Marguerite' })
    await db.close()
    const again = await open(name, { storage, encryption: { password: 'correct horse battery staple' } })
    expect(await again.collection('people').get('a')).toMatchObject({ name: 'Marguerite' })
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes('Marguerite')).toBe(false)
    await again.destroy()
  })

  test('the databases of destroyed names leave nothing', async () => {
    await storage.destroy(newName())
    expect(readdirSync(folder)).toEqual([])
  })
})

describe.for(FILES)('%s', ([, storage]) => {
  test('sqlite() opens its file, and it opens those of sqlite()', async () => {
    const name = newName()
    const store = await storage.open(name)
    await store.commit(someCommit(1, 0, { pages: [somePage(1)] }))
    await store.close()
    const ours = await sqlite().open(join(folder, name))
    expect(await ours.readPages(pageIds(1))).toEqual([somePage(1).bytes])
    await ours.append(someRecord(1), 'relaxed')
    await ours.close()
    const again = await storage.open(name)
    expect((await again.read()).log).toEqual([someRecord(1)])
    await again.close()
    await storage.destroy(name)
  })

  test('a second connection finds the file locked', async () => {
    const name = newName()
    const store = await storage.open(name)
    await expect(sqlite().open(join(folder, name))).rejects.toMatchObject({ code: 'PANNIER_LOCKED' })
    await store.close()
    const other = await sqlite().open(join(folder, name))
    await expect(storage.open(name)).rejects.toMatchObject({ code: 'PANNIER_LOCKED' })
    await other.close()
    await storage.destroy(name)
  })

  test('files that are something else are refused and left as they are', async () => {
    const [foreign, text] = [newName(), newName()]
    const file = new DatabaseSync(join(folder, foreign))
    file.exec('CREATE TABLE people (name TEXT)')
    file.close()
    writeFileSync(join(folder, text), 'Dear diary, today I was mistaken for a database. '.repeat(100))
    for (const name of [foreign, text]) {
      const before = readFileSync(join(folder, name))
      await expect(storage.open(name)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
      expect(readFileSync(join(folder, name)).equals(before)).toBe(true)
      rmSync(join(folder, name))
    }
  })

  test('a file of a newer version is refused', async () => {
    const name = newName()
    await (await storage.open(name)).close()
    const file = new DatabaseSync(join(folder, name))
    file.exec('PRAGMA user_version = 2')
    file.close()
    await expect(storage.open(name)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_NEWER' })
    await storage.destroy(name)
  })
})
