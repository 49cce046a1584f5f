/** Goal: the contract on LevelDB and in memory-level, and what only these have: other processes, other content, shared databases. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { afterAll, expect, test } from 'vitest'
import type { Generation, PageId } from '../../src/base/brand.ts'
import type { PageStore, DatabaseStorage } from '../../src/storage/page-store.ts'
import { level } from '../../src/storage/level/level.ts'
import {
  appendRange,
  assertRefused,
  pageIds,
  someCommit,
  someMeta,
  somePage,
  someRecord,
} from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { prefixed } from '../../testing/suite.ts'
import { classicLevel } from './classic-level.ts'
import { encrypted } from './encrypted/fixture.ts'
import { SimulatedLevels } from './simulated-level.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-level-'))
afterAll(() => rmSync(folder, { recursive: true }))

let paths = 0
function newPath(): string {
  return join(folder, `${++paths}`)
}

pageStoreSuite({
  test: prefixed(test, 'classic-level'),
  create: async () => ({ storage: classicLevel(), name: newPath() }),
})
const shared = new ClassicLevel(newPath())
afterAll(() => shared.close())
pageStoreSuite({
  test: prefixed(test, 'a sublevel of classic-level'),
  create: async () => ({ storage: level(shared.sublevel('pannier')), name: 'shop' }),
})
pageStoreSuite({
  test: prefixed(test, 'memory-level'),
  create: async () => ({ storage: level(new MemoryLevel()), name: 'shop' }),
})
/** As abstract-level was before version 3. */
function withoutGetSync(): MemoryLevel {
  const place = new MemoryLevel()
  place.supports = Object.assign({ ...place.supports }, { getSync: false })
  return place
}
pageStoreSuite({
  test: prefixed(test, 'without getSync'),
  create: async () => ({ storage: level(withoutGetSync()), name: 'shop' }),
})
pageStoreSuite({
  test: prefixed(test, 'encrypted'),
  create: async () => ({ storage: encrypted(level(new MemoryLevel())), name: 'shop' }),
  seals: true,
})

test('a second process learns that the database is in use, and gets it afterwards', async () => {
  const path = newPath()
  const store = await classicLevel().open(path)
  await store.append(someRecord(1), 'relaxed')
  const answer = inOtherProcess(TRY_TO_OPEN, path)
  expect(answer).toContain('PANNIER_LOCKED')
  expect(answer).toContain(path)
  expect(inOtherProcess(TRY_TO_DESTROY, path)).toBe('PANNIER_LOCKED')
  await expect(classicLevel().open(path)).rejects.toMatchObject({ code: 'PANNIER_LOCKED' })
  await store.append(someRecord(2), 'relaxed')
  await store.close()
  expect(inOtherProcess(TRY_TO_OPEN, path)).toBe('opened')
  expect(inOtherProcess(TRY_TO_DESTROY, path)).toBe('destroyed')
  expect(await rawKeys(path)).toEqual([])
})

/** Runs a script in another process, with the path as its argument; returns what it prints. */
function inOtherProcess(script: string, path: string): string {
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT_HEAD + script, path], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  expect(run.stderr).not.toContain('SyntaxError')
  return run.stdout.trim()
}

const LEVEL_URL = new URL('../../src/storage/level/level.ts', import.meta.url).href
const SCRIPT_HEAD = `
  import { ClassicLevel } from 'classic-level'
  import { level } from ${JSON.stringify(LEVEL_URL)}
  const path = process.argv[1]
  const storage = level((path) => new ClassicLevel(path))
`
const TRY_TO_OPEN = `await storage.open(path).then((store) => { console.log('opened'); return store.close() }, (e) => console.log(e.code, e.message))`
const TRY_TO_DESTROY = `await storage.destroy(path).then(() => console.log('destroyed'), (e) => console.log(e.code))`

async function rawKeys(path: string): Promise<string[]> {
  const raw = new ClassicLevel(path)
  const keys = await raw.keys().all()
  await raw.close()
  return keys
}

test('what a killed process has acknowledged is there, and its lock is not', async () => {
  const path = newPath()
  const acknowledged = inOtherProcess(
    `const store = await storage.open(path)
     for (let sequence = 1; sequence <= 20; sequence++) await store.append({ sequence, bytes: new Uint8Array(9) }, 'relaxed')
     console.log('20')
     process.kill(process.pid, 'SIGKILL')`,
    path,
  )
  expect(acknowledged).toBe('20')
  const store = await classicLevel().open(path)
  expect((await store.read()).log.length).toBe(20)
  await store.close()
})

test('pages are read at once where they can be', async () => {
  for (const [place, now] of [
    [new MemoryLevel(), true],
    [new MemoryLevel().sublevel('one'), true],
    [withoutGetSync(), false],
  ] as const) {
    const store = await level(place).open('shop')
    await store.commit(someCommit(1, 0, { pages: [somePage(1)] }))
    expect(store.readPages(pageIds(1)) instanceof Promise).toBe(!now)
    await store.close()
  }
})

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

test('databases in one abstract-level database share nothing, whatever their names, and leave it open', async () => {
  const place = new MemoryLevel<string, string>()
  await place.put('theirs', 'kept')
  const storage = level(place)
  const names = ['a', 'a"', '"a"', 'a"b', '', 'ä\u0000', '\ud800', '\ud801', 'theirs']
  const stores = await Promise.all(names.map((name) => storage.open(name)))
  for (const [at, store] of stores.entries()) await appendRange(store, 1, at + 1)
  for (const [at, store] of stores.entries()) expect((await store.read()).log.length).toBe(at + 1)
  for (const store of stores) await store.close()
  for (const name of names) await storage.destroy(name)
  expect(await place.keys().all()).toEqual(['theirs'])
})

test('storages of one abstract-level database, and of equal sublevels, share its databases', async () => {
  const place = new MemoryLevel()
  for (const storages of [
    [level(place), level(place)],
    [level(place.sublevel('one')), level(place.sublevel('one'))],
  ]) {
    const [first, second] = storages as [DatabaseStorage, DatabaseStorage]
    expect(second.identify('x')).toBe(first.identify('x'))
    const [one, other] = [await first.open('x'), await second.open('x')]
    await one.append(someRecord(1), 'relaxed')
    await other.append(someRecord(2), 'relaxed')
    await assertRefused('PANNIER_STALE', () => one.append(someRecord(2), 'relaxed'))
    await one.close()
    expect((await other.read()).log.length).toBe(2)
    await other.close()
  }
  expect(level(place).identify('x')).not.toBe(level(place.sublevel('one')).identify('x'))
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
  await expect(classicLevel().open(path)).rejects.toMatchObject({ code: 'PANNIER_WRONG_FORMAT' })
  await expect(classicLevel().destroy(path)).rejects.toMatchObject({ code: 'PANNIER_WRONG_FORMAT' })
  expect(await rawKeys(path)).toEqual(['theirs'])
})

test('a newer format is refused', async () => {
  const path = newPath()
  await (await classicLevel().open(path)).close()
  const raw = new ClassicLevel<string, Uint8Array>(path, { valueEncoding: 'view' })
  await raw.put('format', Uint8Array.of(99))
  await raw.close()
  await expect(classicLevel().open(path)).rejects.toMatchObject({ code: 'PANNIER_NEWER_FORMAT' })
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

test('when its abstract-level database is closed underneath, calls say so', async () => {
  const place = new MemoryLevel()
  const store = await level(place).open('shop')
  await store.append(someRecord(1), 'relaxed')
  await place.close()
  await assertRefused('PANNIER_CLOSED', () => store.readPages(pageIds(1)))
  await assertRefused('PANNIER_CLOSED', () => store.append(someRecord(2), 'relaxed'))
  await store.close()
  await expect(level(place).open('shop')).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
  await place.open()
  const again = await level(place).open('shop')
  expect((await again.read()).log.length).toBe(1)
  await again.close()
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
  const inMemory = await level(new MemoryLevel()).open('shop')
  expect(await inMemory.usedBytes()).toBe(undefined)
  await inMemory.close()
})

test('after a loss of power no strict append is there without the relaxed ones before it', async () => {
  // Each batch is in a file of its own, and all that may be lost is lost.
  const place = new SimulatedLevels({})
  const store = await place.open('shop')
  await appendRange(store, 1, 3)
  await store.append(someRecord(4), 'strict')
  const gone = new Promise<void>((resolve) => (place.onGone = resolve))
  place.failAt(place.calls + 1, { kind: 'power', happens: true })
  void store.read()
  await gone
  const { log } = await (await place.open('shop')).read()
  expect(log).toEqual([1, 2, 3, 4].map((sequence) => someRecord(sequence)))
})

test('an encrypted database whose log seal is where earlier versions had it opens, and gets it where it is now', async () => {
  const place = new MemoryLevel<string, Uint8Array>({ keyEncoding: 'utf8', valueEncoding: 'view' })
  const openOne = (): Promise<PageStore> => encrypted(level(place)).open('shop')
  const first = await openOne()
  await first.read()
  await appendRange(first, 1, 3)
  await first.close()
  const [key] = (await place.keys().all()).filter((one) => one.includes('head/'))
  const former = key!.replace(/head\/.*/, 'head')
  await place.put(former, (await place.get(key!))!)
  await place.del(key!)
  const second = await openOne()
  expect((await second.read()).log).toEqual([1, 2, 3].map((sequence) => someRecord(sequence)))
  await second.append(someRecord(4), 'relaxed')
  await second.close()
  expect(await place.get(former)).toBe(undefined)
  const third = await openOne()
  expect((await third.read()).log.length).toBe(4)
  await third.close()
})
