/** Key-value stores over real storages, each on a database of its own. Files are removed when the tests of a file have ended. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { localCoordinator } from '../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../src/database/lifecycle/environment.ts'
import type { KeyValueStore } from '../src/kv/key-value-store.ts'
import { openKeyValueStore } from '../src/kv/open.ts'
import { sqlite } from '../src/storage/sqlite/sqlite.ts'
import type { DatabaseStorage } from '../src/storage/page-store.ts'

let databases = 0

/** The cache is small, so that pages are read again and again. */
export async function keyValueStoreIn(
  storage: DatabaseStorage,
  name: string = `test ${++databases}`,
): Promise<KeyValueStore> {
  const environment = systemEnvironment()
  const coordinator = localCoordinator({ key: name, environment })
  const store = await storage.open(name)
  return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 18 })
}

/** Paths of new files. */
export function temporaryFiles(): () => string {
  const folder = mkdtempSync(join(tmpdir(), 'pannier-test-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let files = 0
  return () => join(folder, `${++files}.db`)
}

/** Makes stores in SQLite files. */
export function sqliteKeyValueStores(): () => Promise<KeyValueStore> {
  const newPath = temporaryFiles()
  return () => keyValueStoreIn(sqlite(), newPath())
}
