/**
 * Suites that ask for nothing of a storage but its contract, which the page-store suite checks on each: once more on those that users have,
 * and on those that answer later.
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
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { encryptionSuite } from '../../testing/conformance/encryption.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'
import { transactionSuite, type TransactionFixture } from '../../testing/conformance/transactions.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { openCold } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { classicLevel } from '../storage/classic-level.ts'

const CACHE_BYTES_LEAST = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'pannier-storages-'))
afterAll(() => rmSync(folder, { recursive: true }))
let databases = 0
const newName = (): string => join(folder, `${++databases}`)

describe('SQLite', () => {
  collectionSuite({ test, create: () => open(newName()) })
  attachmentSuite({ test, create: () => open(newName()) })
  encryptionSuite({ test, create: () => ({ storage: sqlite(), name: newName() }) })
  importExportSuite({ test, create: () => open(newName()) })
  const storage = sqlite()
  snapshotSuite({ test, create: () => ({ storage, name: newName() }) })
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
