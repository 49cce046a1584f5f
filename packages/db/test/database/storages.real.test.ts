/**
 * Suites that ask for nothing of a storage but its contract, on the storages that users have and on slow ones. The page-store suite
 * checks the contract itself on each storage.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryLevel } from 'memory-level'
import { afterAll, describe, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { level } from '../../src/storage/level/level.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { aggregateSuite } from '../../testing/conformance/aggregates.ts'
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { encryptionSuite } from '../../testing/conformance/encryption.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'
import { liveQuerySuite } from '../../testing/conformance/live-queries.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'
import { transactionSuite, type TransactionFixture } from '../../testing/conformance/transactions.ts'
import { viewSuite } from '../../testing/conformance/views.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { prefixed } from '../../testing/suite.ts'
import { keyValueStoreIn } from '../key-value-stores.ts'
import { classicLevel } from '../storage/classic-level.ts'

const CACHE_BYTES_LEAST = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'pannier-storages-'))
afterAll(() => rmSync(folder, { recursive: true }))
let databases = 0
const newName = (): string => join(folder, `${++databases}`)

describe('SQLite', () => {
  const createStore = () => keyValueStoreIn(sqlite(), newName())
  collectionSuite({ test, create: () => open(newName()) })
  attachmentSuite({ test, create: () => open(newName()) })
  encryptionSuite({ test, create: () => ({ storage: sqlite(), name: newName() }) })
  importExportSuite({ test, create: () => open(newName()) })
  snapshotSuite({ test, create: () => ({ storage: sqlite(), name: newName() }) })
  querySuite({ test: prefixed(test, 'queries'), create: createStore })
  aggregateSuite({ test: prefixed(test, 'aggregates'), create: createStore })
  viewSuite({ test: prefixed(test, 'views'), create: () => open(newName()) })
  liveQuerySuite({
    test: prefixed(test, 'live queries'),
    create: () => {
      const name = newName()
      return { open: () => open(name) }
    },
    supports: { handles: true },
  })
})

describe('LevelDB', () => {
  const create = () => open(newName(), { storage: classicLevel() })
  collectionSuite({ test, create })
  attachmentSuite({ test, create })
  snapshotSuite({ test, create: () => ({ storage: classicLevel(), name: newName() }) })
})

describe('memory-level', () => {
  const storage = level(new MemoryLevel())
  collectionSuite({ test, create: () => open(newName(), { storage }) })
})

describe('raw files', () => {
  const storage = new RawFileStorage()
  snapshotSuite({ test, create: () => ({ storage, name: newName() }) })
})

/** A storage for each case. */
const opened = (make: () => DatabaseStorage) => (): TransactionFixture => {
  const storage = make()
  return { open: () => open('x', { storage, cacheBytesMax: CACHE_BYTES_LEAST }) }
}
const uncached = (make: () => DatabaseStorage) => (): TransactionFixture => {
  const storage = make()
  return { open: () => openCold('x', storage) }
}

describe.each<readonly [name: string, create: () => TransactionFixture]>([
  ['memory, no cache', uncached(memory)],
  ['slow', opened(() => slow(memory(), 1))],
  ['slow LevelDB', opened(() => slow(level(new MemoryLevel()), 3))],
  ['raw files', uncached(() => slow(new RawFileStorage(), 4))],
])('%s', (_, create) => transactionSuite({ test, create }))
