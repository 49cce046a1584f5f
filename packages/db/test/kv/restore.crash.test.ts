/**
 * Goal: a restore happens whole or not at all, whichever backend call fails and however; what it leaves behind is in nobody's way.
 * Method: calls of a restore in turn meet every fault of the simulated page store; then what is there is looked at,
 * by a second restore or by a new database of that name.
 */
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../src/base/environment.ts'
import { isPannierError } from '../../src/base/errors.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { holdsDatabase, restoreSnapshot } from '../../src/kv/restore-snapshot.ts'
import type { PageStore, DatabaseStorage } from '../../src/storage/page-store.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { countingEnvironment } from '../../testing/model-database.ts'
import { seededRandom } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage, type Fault } from '../../testing/simulated-page-store.ts'
import { soloCoordinator } from './solo-coordinator.ts'
import { firstOf, strideOf } from '../../../../tools/test/seeds.ts'

const ENTRIES = 500
const VALUE_BYTES = 6000

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'error', code: 'PANNIER_QUOTA_EXCEEDED', happens: false },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: false },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]

const environment: Environment = countingEnvironment()
const { file, filePages } = await makeFile()

describe.each(FAULTS)('%o', (fault) => {
  test('at calls in turn', async () => {
    const stride = strideOf(7)
    for (let call = 1 + firstOf(FAULTS.indexOf(fault), stride); ; call += stride) {
      // Synchronous answers, or late ones in any order.
      const random = seededRandom(call)
      const storage = new SimulatedStorage(call % 3 === 0 ? { schedule: randomOrder(random.next) } : {})
      storage.failAt(call, fault)
      const gone = new Promise<'gone'>((resolve) => (storage.onGone = () => resolve('gone')))
      const store = await storage.open('x')
      const outcome = await Promise.race([restored(store), gone])
      if (storage.calls < call) return
      await look(storage, outcome, call)
    }
  })
})

test('there is more than one stage, so that there is something to tear', async () => {
  const storage = new SimulatedStorage()
  expect(await restored(await storage.open('x'))).toBe('done')
  // Open, look, claim, stages, commit.
  expect(storage.calls).toBeGreaterThanOrEqual(6)
})

async function restored(store: PageStore): Promise<unknown> {
  try {
    await restoreSnapshot(chunks(), { store, environment, durability: 'relaxed' })
    return 'done'
  } catch (error) {
    return error
  }
}

async function look(storage: SimulatedStorage, outcome: unknown, call: number): Promise<void> {
  storage.disarm()
  const store = await storage.open('x')
  const there = await holdsDatabase(store)
  if (outcome === 'done') expect(there).toBe(true)
  else if (outcome !== 'gone') {
    expect(isPannierError(outcome), String(outcome)).toBe(true)
    expect(there).toBe(false)
  }
  if (there || call % 2 === 0) {
    if (!there) expect(await restored(store)).toBe('done')
    const copy = await openOver(store)
    await checkContent(copy)
    expect(await store.listPages()).toEqual(filePages)
    await checkWork(copy)
  } else {
    const fresh = await openOver(store)
    expect(await fresh.read((snapshot) => snapshot.treeNames())).toEqual([])
    await fresh.write((transaction) => transaction.createTree('bodies', 'sequence').append(new Uint8Array(10)))
    await checkWork(fresh)
  }
}

async function checkContent(copy: PagedKeyValueStore): Promise<void> {
  const count = await copy.read((snapshot) => {
    const cursor = snapshot.tree('bodies')!.cursor()
    let entries = 0
    for (; cursor.next(); entries++) expect(cursor.value[0]).toBe(cursor.keyNumber & 255)
    return entries
  })
  expect(count).toBe(ENTRIES)
}

async function checkWork(copy: PagedKeyValueStore): Promise<void> {
  await copy.check()
  for (let round = 0; round < 2; round++) {
    await copy.write((transaction) => transaction.tree('bodies')!.append(new Uint8Array(9000)))
    await copy.checkpoint()
  }
  await copy.check()
  await copy.close()
}

function openOver(store: PageStore): Promise<PagedKeyValueStore> {
  const coordinator = soloCoordinator()
  return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 20 })
}

async function makeFile(): Promise<{ file: Uint8Array[]; filePages: readonly number[] }> {
  const storage: DatabaseStorage = memory()
  const kv = await openOver(await storage.open('source'))
  await kv.write((transaction) => {
    const bodies = transaction.createTree('bodies', 'sequence')
    for (let n = 1; n <= ENTRIES; n++) bodies.append(new Uint8Array(VALUE_BYTES).fill(n))
    bodies.append(new Uint8Array(200_000))
    transaction.createTree('empty', 'ordered')
  })
  await kv.write((transaction) => transaction.tree('bodies')!.delete(numberKey(ENTRIES + 1)))
  const { chunks: parts, release } = await kv.exportSnapshot({})
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  release()
  await kv.close()
  const target = await storage.open('target')
  await restoreSnapshot(asyncOf(all), { store: target, environment, durability: 'relaxed' })
  return { file: all, filePages: await target.listPages() }
}

function chunks(): AsyncGenerator<Uint8Array> {
  return asyncOf(file)
}

async function* asyncOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield part
}
