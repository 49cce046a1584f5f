/** Goal: the contract on a real file, and what only files have: other formats, damage, full disks. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { connect } from '../../src/storage/sqlite/connect.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { defaultCacheBytes, sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { appendRange, pageIds, someCommit, somePage, someRecord } from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function newPath(): string {
  return join(folder, `${++files}.db`)
}

pageStoreSuite({ test, create: async () => ({ storage: sqlite(), name: newPath() }) })

test('open databases share a 16th of the memory, and have 64 MiB each at least', () => {
  const share = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 16
  const least = 64 * 2 ** 20
  expect(defaultCacheBytes(1)).toBe(Math.max(share, least))
  expect(defaultCacheBytes(3)).toBe(Math.max(share / 3, least))
  expect(defaultCacheBytes(10_000_000)).toBe(least)
})

test('the suite leaves no file behind', () => {
  expect(readdirSync(folder)).toEqual([])
})

test('a file that somebody else writes to is refused, and can be had afterwards', async () => {
  const path = newPath()
  await (await sqlite().open(path)).close()
  const other = new DatabaseSync(path)
  other.exec('BEGIN EXCLUSIVE')
  await expect(sqlite().open(path)).rejects.toMatchObject({
    code: 'PANNIER_LOCKED',
    message: expect.stringContaining(path) as string,
  })
  await expect(sqlite().destroy(path)).rejects.toMatchObject({ code: 'PANNIER_LOCKED' })
  other.close()
  await sqlite().destroy(path)
  expect(existsSync(path)).toBe(false)
})

test.skipIf(process.platform === 'win32')(
  'a new file, and what SQLite puts beside it, is for its owner alone',
  async () => {
    const path = newPath()
    const before = process.umask(0o022)
    try {
      const store = await sqlite().open(path)
      await store.append(someRecord(1), 'relaxed')
      for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777, file).toBe(0o600)
      await store.close()
      await sqlite().destroy(path)
    } finally {
      process.umask(before)
    }
  },
)

test('handles of one process share the file; it is closed with the last of them', async () => {
  const path = newPath()
  const first = await sqlite().open(path)
  const second = await sqlite().open(path)
  await first.close()
  await first.close()
  await second.append(someRecord(1), 'relaxed')
  expect(existsSync(`${path}-wal`)).toBe(true)
  await second.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  await sqlite().destroy(path)
})

test('files that are something else are refused and left as they are', async () => {
  const other = newPath()
  const foreign = new DatabaseSync(other)
  foreign.exec('CREATE TABLE people (name TEXT)')
  foreign.close()
  const text = newPath()
  writeFileSync(text, 'Dear diary, today I was mistaken for a database. '.repeat(100))
  const short = newPath()
  writeFileSync(short, 'hello')
  for (const path of [other, text, short]) {
    const before = readFileSync(path)
    await expect(sqlite().open(path)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
    await expect(sqlite().destroy(path)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
    expect(readFileSync(path).equals(before)).toBe(true)
    rmSync(path)
  }
})

test('an empty file becomes a database', async () => {
  const path = newPath()
  writeFileSync(path, '')
  const store = await sqlite().open(path)
  await store.append(someRecord(1), 'relaxed')
  await store.close()
  await sqlite().destroy(path)
})

test('a newer schema is refused', async () => {
  const path = newPath()
  await (await sqlite().open(path)).close()
  const connection = new DatabaseSync(path)
  connection.exec('PRAGMA user_version = 99')
  connection.close()
  await expect(sqlite().open(path)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_NEWER' })
  await sqlite().destroy(path)
})

test('a folder that does not exist, or a path that is a folder, is said clearly', async () => {
  await expect(sqlite().open(join(folder, 'none', 'a.db'))).rejects.toMatchObject({
    code: 'PANNIER_OPEN_FAILED',
    message: expect.stringContaining(join(folder, 'none')) as string,
  })
  await expect(sqlite().open(folder)).rejects.toMatchObject({
    code: 'PANNIER_OPEN_FAILED',
    message: `The path of a database must be that of a file, got the folder ${folder}. Name a file in it, as in ${join(folder, 'app.db')}.`,
  })
  await expect(sqlite().destroy(folder)).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
  await sqlite().destroy(join(folder, 'none', 'a.db'))
})

test('a damaged file is reported as damaged', async () => {
  const path = newPath()
  const store = await sqlite().open(path)
  const pages = Array.from({ length: 50 }, (_, index) => somePage(index + 1, 20_000))
  await store.commit(someCommit(1, 0, { pages }))
  await store.close()
  const bytes = readFileSync(path)
  bytes.fill(0xff, 8192)
  writeFileSync(path, bytes)
  const damaged = sqlite()
  await expect(
    damaged.open(path).then(async (opened) => {
      try {
        await opened.readPages(pageIds(25))
      } finally {
        await opened.close()
      }
    }),
  ).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
  await damaged.destroy(path)
  expect(existsSync(path)).toBe(false)
})

test('when no room is left a write fails whole, and the database keeps working', async () => {
  const path = newPath()
  const connection = connect(path)
  connection.exec('PRAGMA max_page_count = 100')
  const database = new SqliteDatabase(connection, path)
  const many = Array.from({ length: 100 }, (_, index) => somePage(index + 1, 30_000))
  database.append(someRecord(1), 'relaxed')
  expect(() => database.commit(someCommit(1, 0, { pages: many }))).toThrow(
    expect.objectContaining({ code: 'PANNIER_QUOTA_EXCEEDED', cause: expect.any(Error) as Error }),
  )
  expect(database.listPages()).toEqual([])
  database.append(someRecord(2), 'strict')
  database.commit(someCommit(1, 1, { pages: many.slice(0, 5) }))
  expect(database.read(undefined).log).toEqual([someRecord(2)])
  database.destroy()
})

test('the file does not grow when as much is freed as is written', async () => {
  const path = newPath()
  const store = await sqlite().open(path)
  for (let generation = 1; generation <= 20; generation++) {
    const pages = Array.from({ length: 20 }, (_, index) => somePage(20 * generation + index, 20_000))
    const free = pageIds(...pages.map((page) => page.id - 20))
    await store.commit(someCommit(generation, 0, { pages, free }))
  }
  await appendRange(store, 1, 1)
  expect(store.usedBytes()).toBeLessThan(600_000)
  await store.close()
  expect(readFileSync(path).length).toBeLessThan(1_200_000)
  await sqlite().destroy(path)
})
