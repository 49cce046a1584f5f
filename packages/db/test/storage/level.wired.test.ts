/** Goal: the contract on LevelDB, and what only its folders have: other content, damage. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterAll, expect, test } from 'vitest'
import type { Generation, PageId } from '../../src/base/brand.ts'
import {
  appendRange,
  pageIds,
  someCommit,
  someMeta,
  somePage,
  someRecord,
} from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { classicLevel } from './classic-level.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-level-'))
afterAll(() => rmSync(folder, { recursive: true }))

let paths = 0
function newPath(): string {
  return join(folder, `${++paths}`)
}

pageStoreSuite({ test, create: async () => ({ storage: classicLevel(), name: newPath() }) })

async function rawKeys(path: string): Promise<string[]> {
  const raw = new ClassicLevel(path)
  const keys = await raw.keys().all()
  await raw.close()
  return keys
}

test('keys and values are those of docs/internals/file-format.md', async () => {
  const path = newPath()
  const store = await classicLevel().open(path)
  await appendRange(store, 1, 3)
  await store.commit(someCommit(1, 2, { pages: [somePage(1), somePage(255)] }))
  await store.claim('token', 1 as Generation, 256 as PageId)
  await store.close()
  const own = ['claim', 'format', 'log/00000000000002', 'log/00000000000003', 'meta']
  const pages = ['page/00000000000001', 'page/000000000000ff']
  expect(await rawKeys(path)).toEqual([...own, ...pages])
  const raw = new ClassicLevel<string, Uint8Array>(path, { valueEncoding: 'view' })
  const values = await raw.getMany(['format', 'meta', 'claim', 'log/00000000000003', 'page/000000000000ff'])
  await raw.close()
  expect(values.map((bytes) => [...bytes!])).toEqual([
    [1],
    [1, 2, ...someMeta(1, 2).bytes],
    [...Buffer.from('token')],
    [...someRecord(3).bytes],
    [...somePage(255).bytes],
  ])
})

test('a LevelDB that somebody else has open is refused, and can be had afterwards', async () => {
  const path = newPath()
  await (await classicLevel().open(path)).close()
  const other = new ClassicLevel(path)
  await other.open()
  await expect(classicLevel().open(path)).rejects.toMatchObject({
    code: 'PANNIER_LOCKED',
    message: expect.stringContaining(path) as string,
  })
  await expect(classicLevel().destroy(path)).rejects.toMatchObject({ code: 'PANNIER_LOCKED' })
  await other.close()
  await classicLevel().destroy(path)
  expect(await rawKeys(path)).toEqual([])
})

test('handles come and go at the same time', async () => {
  const path = newPath()
  const storage = classicLevel()
  for (let round = 0; round < 5; round++) {
    const [first, second] = await Promise.all([storage.open(path), storage.open(path)])
    const closing = Promise.all([first.close(), second.close()])
    const third = await storage.open(path)
    await third.append(someRecord(1), 'relaxed')
    const destroyed = Promise.all([storage.destroy(path), storage.destroy(path), storage.open(path)])
    await closing
    const [, , fourth] = await destroyed
    expect(await fourth.read()).toMatchObject({ meta: undefined, log: [] })
    await expect((async () => third.read())()).rejects.toMatchObject({ code: 'PANNIER_CLOSED' })
    await fourth.close()
  }
})

test('a LevelDB with something else in it is refused and left as it is', async () => {
  const path = newPath()
  const raw = new ClassicLevel(path)
  await raw.put('theirs', 'kept')
  await raw.close()
  await expect(classicLevel().open(path)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
  await expect(classicLevel().destroy(path)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
  expect(await rawKeys(path)).toEqual(['theirs'])
})

test('a newer format is refused', async () => {
  const path = newPath()
  await (await classicLevel().open(path)).close()
  const raw = new ClassicLevel<string, Uint8Array>(path, { valueEncoding: 'view' })
  await raw.put('format', Uint8Array.of(99))
  await raw.close()
  await expect(classicLevel().open(path)).rejects.toMatchObject({ code: 'PANNIER_FORMAT_NEWER' })
  await classicLevel().destroy(path)
  expect(await rawKeys(path)).toEqual([])
})

test('what cannot be opened is said clearly, and can be opened later', async () => {
  const path = newPath()
  writeFileSync(path, 'a file')
  const storage = classicLevel()
  await expect(storage.open(path)).rejects.toMatchObject({
    code: 'PANNIER_OPEN_FAILED',
    message: expect.stringContaining(path) as string,
    cause: expect.any(Error) as Error,
  })
  rmSync(path)
  await (await storage.open(path)).close()
  await expect(classicLevel().open('')).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
})

test('a damaged file is reported, or what it held is missing, and never wrong', async () => {
  const path = newPath()
  const store = await classicLevel().open(path)
  const pages = Array.from({ length: 300 }, (_, index) => somePage(index + 1, 30_000))
  await store.commit(someCommit(1, 0, { pages }))
  await store.close()
  // Opening moves what is in LevelDB's log into tables, and closing ends that.
  await (await classicLevel().open(path)).close()
  const tables = readdirSync(path).filter((name) => name.endsWith('.ldb'))
  expect(tables.length).toBeGreaterThan(0)
  for (const name of tables) {
    const bytes = readFileSync(join(path, name))
    bytes.fill(0xff, 0, bytes.length)
    writeFileSync(join(path, name), bytes)
  }
  await expect(
    classicLevel()
      .open(path)
      .then(async (opened) => {
        try {
          await opened.readPages(pageIds(...pages.map(({ id }) => id)))
        } finally {
          await opened.close()
        }
      }),
  ).rejects.toMatchObject({ code: 'PANNIER_CORRUPT' })
})

test('bytes used follow what is stored, where LevelDB tells', async () => {
  const path = newPath()
  const store = await classicLevel().open(path)
  const pages = Array.from({ length: 300 }, (_, index) => somePage(index + 1, 30_000))
  await store.commit(someCommit(1, 0, { pages }))
  await store.close()
  const again = await classicLevel().open(path)
  expect(await again.usedBytes()).toBeGreaterThan(4_000_000)
  await again.close()
})
