/**
 * Goal: the file logic of OPFS keeps the contract of page stores on files, whatever a loss of power leaves of them; what was damaged
 * is noticed.
 * Method: the conformance suite over a simulated disk; testing/raw-file-simulation.ts for some seeds; files that are changed by hand.
 */
import { expect, test } from 'vitest'
import type { CommitSequence } from '../../src/base/brand.ts'
import { writeU32 } from '../../src/codec/bytes.ts'
import { checksum } from '../../src/codec/checksum.ts'
import type { FileDatabase } from '../../src/storage/opfs/file-database.ts'
import { pageIds, someCommit, somePage, someRecord } from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { seededRandom } from '../../testing/random.ts'
import { simulateFiles } from '../../testing/raw-file-simulation.ts'
import { openDatabase, RawFileStorage } from '../../testing/raw-file-storage.ts'
import { SimulatedDisk } from '../../testing/simulated-disk.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const SEEDS = seedsOf('crash', 2)
const NAME = 'database'

pageStoreSuite({ test, create: async () => ({ storage: new RawFileStorage(), name: NAME }) })

test(`power is lost, processes end, disks fail: ${SEEDS.length} seeds from ${SEEDS[0]}`, { timeout: 3_600_000 }, () => {
  let losses = 0
  for (const seed of SEEDS) {
    try {
      losses += simulateFiles(seed)
    } catch (error) {
      throw new Error(`seed ${seed} (replay: SEED=${seed} SEEDS=1)`, { cause: error })
    }
  }
  console.log(`the power was lost ${losses} times`)
})

function newDisk(): SimulatedDisk {
  return new SimulatedDisk(seededRandom(1))
}

/** With a process of its own. */
function reopened(disk: SimulatedDisk): FileDatabase {
  disk.endProcess()
  return openDatabase(disk, NAME)
}

function sequencesOf(database: FileDatabase): number[] {
  return database.read(undefined).log.map(({ sequence }) => sequence)
}

function append(database: FileDatabase, sequence: number, durability: 'relaxed' | 'strict' = 'relaxed'): void {
  database.append(someRecord(sequence, 1000), durability, undefined, false)
}

/** Where the record's bytes stand in the journal. */
function placeOf(disk: SimulatedDisk, sequence: number): number {
  const { bytes } = disk.file(`${NAME}/journal-a`)
  return Buffer.from(bytes).indexOf(Buffer.from(someRecord(sequence, 1000).bytes))
}

function damage(disk: SimulatedDisk, file: string, at: number): void {
  disk.file(`${NAME}/${file}`).bytes[at]! ^= 1
}

test('a torn end is cut off, and what stood behind it never comes back', () => {
  const disk = newDisk()
  const first = openDatabase(disk, NAME)
  append(first, 1, 'strict')
  for (const sequence of [2, 3, 4]) append(first, sequence)
  damage(disk, 'journal-a', placeOf(disk, 2))
  const second = reopened(disk)
  expect(sequencesOf(second)).toEqual([1])
  const other = { sequence: 2 as CommitSequence, bytes: new Uint8Array(1000) }
  second.append(other, 'strict', undefined, false)
  expect(sequencesOf(reopened(disk))).toEqual([1, 2])
})

test('damage before what is known to have been flushed is corruption', () => {
  const disk = newDisk()
  const database = openDatabase(disk, NAME)
  append(database, 1)
  append(database, 2, 'strict')
  append(database, 3)
  for (const place of [placeOf(disk, 1), placeOf(disk, 2)]) {
    damage(disk, 'journal-a', place)
    expect(() => reopened(disk)).toThrow(expect.objectContaining({ code: 'PANNIER_CORRUPT' }))
    damage(disk, 'journal-a', place)
    expect(sequencesOf(reopened(disk))).toEqual([1, 2, 3])
  }
})

test('without any whole base a database is damaged, not new', () => {
  const disk = newDisk()
  append(openDatabase(disk, NAME), 1)
  damage(disk, 'journal-a', 20)
  expect(() => reopened(disk)).toThrow(expect.objectContaining({ code: 'PANNIER_CORRUPT' }))
})

test('a newer version is refused', () => {
  const disk = newDisk()
  openDatabase(disk, NAME)
  const { bytes } = disk.file(`${NAME}/journal-a`)
  const [file] = disk.open(NAME).journals
  const length = 16 + bytes[4]!
  bytes[16] = 2
  const sum = checksum(bytes, 4, length)
  writeU32(bytes, 0, sum)
  expect(file.size()).toBeGreaterThan(length)
  expect(() => reopened(disk)).toThrow(expect.objectContaining({ code: 'PANNIER_FORMAT_NEWER' }))
})

test('a call that is made again is not done twice', () => {
  const database = openDatabase(newDisk(), NAME)
  for (const again of [false, true]) database.append(someRecord(1), 'strict', undefined, again)
  const commit = someCommit(1, 1, { pages: [somePage(1)] })
  for (const again of [false, true]) database.commit(commit, again)
  for (const again of [false, true]) database.append(someRecord(2), 'relaxed', undefined, again)
  expect(sequencesOf(database)).toEqual([2])
  expect(() => database.append(someRecord(2), 'relaxed', undefined, false)).toThrow(
    expect.objectContaining({ code: 'PANNIER_STALE' }),
  )
  expect(() => database.append(someRecord(2, 9), 'relaxed', undefined, true)).toThrow(
    expect.objectContaining({ code: 'PANNIER_STALE' }),
  )
})

test('pages that were put to the owner before this one are not there, and the commit is refused', () => {
  const database = openDatabase(newDisk(), NAME)
  database.put('a', [somePage(2), somePage(3)])
  const commit = someCommit(1, 0, { pages: [somePage(4)] })
  expect(() => database.commit({ ...commit, put: { name: 'a', count: 3 } }, false)).toThrow(
    expect.objectContaining({ code: 'PANNIER_STALE' }),
  )
  expect(() => database.commit({ ...commit, put: { name: 'b', count: 1 } }, false)).toThrow(
    expect.objectContaining({ code: 'PANNIER_STALE' }),
  )
  expect(database.listPages()).toEqual([])
  database.commit({ ...commit, put: { name: 'a', count: 2 } }, false)
  expect(database.listPages()).toEqual([2, 3, 4])
})

test('the files stay as small as what is in them', () => {
  const disk = newDisk()
  const database = openDatabase(disk, NAME)
  for (let generation = 1; generation <= 60; generation++) {
    const ids = Array.from({ length: 20 }, (_, index) => 20 * generation + index)
    const free = pageIds(...ids.map((id) => id - 20))
    database.append(someRecord(generation, 100_000), 'relaxed', undefined, false)
    database.commit(someCommit(generation, generation, { pages: ids.map((id) => somePage(id, 20_000)), free }), false)
  }
  expect(disk.file(`${NAME}/pages`).length).toBeLessThan(1_100_000)
  expect(disk.usedBytes()).toBeLessThan(2_500_000)
  database.commit(someCommit(61, 60, { free: database.listPages() }), false)
  expect(disk.file(`${NAME}/pages`).length).toBe(4096)
})

test('without room deletions still work, from the reserve', () => {
  const disk = newDisk()
  const database = openDatabase(disk, NAME)
  database.commit(someCommit(1, 0, { pages: [somePage(1, 50_000), somePage(2, 50_000)] }), false)
  disk.quotaBytes = disk.usedBytes()
  const large = someCommit(2, 0, { pages: [somePage(3, 90_000)] })
  expect(() => database.commit(large, false)).toThrow(expect.objectContaining({ code: 'PANNIER_QUOTA_EXCEEDED' }))
  expect(() => database.append(someRecord(1, 300_000), 'relaxed', undefined, false)).toThrow(
    expect.objectContaining({ code: 'PANNIER_QUOTA_EXCEEDED' }),
  )
  for (let sequence = 1; sequence <= 200; sequence++) append(database, sequence)
  database.commit(someCommit(2, 200, { free: pageIds(1, 2) }), false)
  database.commit(someCommit(3, 200, { pages: [somePage(4, 60_000)] }), false)
  expect(reopened(disk).listPages()).toEqual([4])
})
