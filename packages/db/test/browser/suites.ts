/** Every suite that runs inside a browser page: one line each. */
import { webCoordinator } from '../../src/database/coordination/web-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { LocalPeer } from '../../src/database/replication/local-peer.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { webPlatform } from '../../src/database/encryption/web-platform.ts'
import { open, type Database } from '../../src/index.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../../src/kv/open.ts'
import { EncryptedStorage } from '../../src/storage/encrypted/encrypted-storage.ts'
import { indexedDb } from '../../src/storage/indexeddb/indexeddb.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { opfs } from '../../src/storage/opfs/opfs.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { assertRejects } from '../../testing/check.ts'
import { aggregateSuite } from '../../testing/conformance/aggregates.ts'
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { changeFeedSuite } from '../../testing/conformance/change-feed.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { documentListSuite } from '../../testing/conformance/document-lists.ts'
import { encryptionSuite, newDeviceKey } from '../../testing/conformance/encryption.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'
import { indexSuite } from '../../testing/conformance/indexes.ts'
import { keyValueSuite } from '../../testing/conformance/key-value.ts'
import { liveQuerySuite } from '../../testing/conformance/live-queries.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { relationSuite } from '../../testing/conformance/relations.ts'
import { replicationPeerSuite } from '../../testing/conformance/replication-peer.ts'
import { replicationSuite } from '../../testing/conformance/replication.ts'
import { revisionsSuite } from '../../testing/conformance/revisions.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'
import { transactionSuite, type TransactionFixture } from '../../testing/conformance/transactions.ts'
import { viewSuite } from '../../testing/conformance/views.ts'
import { ofFewSeeds, prefixed, type Test } from '../../testing/suite.ts'
import { IN_LANE_REAL } from '../../../../tools/browser/page/run-cases.ts'
import { webCoordinatorSuite } from '../coordination/web-coordinator-suite.ts'
import { indexedDbSuite } from '../storage/indexeddb-suite.ts'
import { environmentSuite } from './environment-suite.ts'
import { rawStorageSuite } from './raw-storage-suite.ts'

let databases = 0
const newName = (): string => `suite-${++databases}`

/** A small cache, so that pages are read again and again. */
const CACHE_BYTES_MAX = 1024 * 1024

async function openKeyValue(name: string): Promise<PagedKeyValueStore> {
  const environment = systemEnvironment()
  const coordinator = webCoordinator({ name, environment })!
  const store = await indexedDb().open(name)
  return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: CACHE_BYTES_MAX })
}

/** One database that is opened again and again, with a small cache. */
function reopened(storage: DatabaseStorage): TransactionFixture {
  const name = newName()
  return { open: () => open(name, { storage, cacheBytesMax: CACHE_BYTES_MAX }) }
}

function pageStoreIn(storage: DatabaseStorage): () => Promise<{ storage: DatabaseStorage; name: string }> {
  return async () => ({ storage, name: newName() })
}

/** Several handles on one database. */
function handles(): { open(): Promise<Database> } {
  const name = newName()
  return { open: () => open(name) }
}

/**
 * In the lane wired each layer runs where it meets the browser, on one storage: what is above it runs in Node, where no browser is seen
 * either. The lane real runs all suites on all storages.
 */
export function declareSuites(test: Test): void {
  test('`await using`, compiled, closes a database in every engine', async () => {
    let inside: Database
    {
      await using db = await open(newName())
      inside = db
    }
    await assertRejects((async () => inside.collection('docs').get('a'))(), 'PANNIER_CLOSED')
  })
  environmentSuite({ test: prefixed(test, 'environment') })
  storageSuites(test)
  webCoordinatorSuite({ test: prefixed(test, 'coordinator') })
  keyValueSuite({
    test: prefixed(test, 'key-value'),
    create: () => {
      const name = newName()
      return { open: () => openKeyValue(name) }
    },
    supports: { handles: true },
  })
  collectionSuite({ test: prefixed(test, 'collection'), create: () => open(newName()) })
  transactionSuite({ test: prefixed(test, 'transactions'), create: () => reopened(indexedDb()) })
  changeFeedSuite({ test: prefixed(test, 'change feed'), create: handles, supports: { handles: true } })
  liveQuerySuite({
    test: prefixed(IN_LANE_REAL ? test : ofFewSeeds(test), 'live queries'),
    create: handles,
    supports: { handles: true },
  })
  attachmentSuite({ test: prefixed(test, 'attachments'), create: () => open(newName()) })
  importExportSuite({ test: prefixed(test, 'import and export'), create: () => open(newName()) })
  snapshotSuite({ test: prefixed(test, 'snapshot'), create: () => ({ storage: indexedDb(), name: newName() }) })
  encryptionSuite({ test: prefixed(test, 'encryption'), create: () => ({ storage: indexedDb(), name: newName() }) })
  rawStorageSuite({ test: prefixed(test, 'raw storage'), hasFiles: hasFileSystem() })
  if (!IN_LANE_REAL) return
  suitesAboveKeys(test)
  suitesOnFurtherStorages(test)
}

/** The page-store suite on each storage that only a browser has, and encrypted by its own WebCrypto. */
function storageSuites(test: Test): void {
  indexedDbSuite({ test: prefixed(test, 'page store, IndexedDB') })
  if (hasFileSystem()) pageStoreSuite({ test: prefixed(test, 'page store, OPFS'), create: pageStoreIn(opfs()) })
  encryptedPageStoreSuite(test, 'IndexedDB', indexedDb())
}

/** What asks keys and values for no more than the key-value suite does. */
function suitesAboveKeys(test: Test): void {
  querySuite({ test: prefixed(test, 'query'), create: () => openKeyValue(newName()) })
  aggregateSuite({ test: prefixed(test, 'aggregates'), create: () => openKeyValue(newName()) })
  indexSuite({ test: prefixed(test, 'indexes'), create: () => open(newName()) })
  relationSuite({ test: prefixed(test, 'relations'), create: () => ({ storage: indexedDb(), name: newName() }) })
  documentListSuite({ test: prefixed(test, 'document lists'), create: () => open(newName()) })
  revisionsSuite({ test: prefixed(test, 'revisions'), create: () => open(newName()) })
  viewSuite({ test: prefixed(test, 'views'), create: () => open(newName()) })
  replicationSuite({ test: prefixed(test, 'replication'), create: () => open(newName()) })
  replicationPeerSuite({
    test: prefixed(test, 'replication peer'),
    create: async () => {
      const db = await open(newName())
      return { peer: new LocalPeer(db.collection<JsonObject>('docs')), close: () => db.close() }
    },
  })
}

function suitesOnFurtherStorages(test: Test): void {
  pageStoreSuite({ test: prefixed(test, 'page store, memory'), create: pageStoreIn(memory()) })
  encryptedCollectionSuite(test, 'IndexedDB', indexedDb())
  if (!hasFileSystem()) return
  const storage = opfs()
  collectionSuite({ test: prefixed(test, 'collection, OPFS'), create: () => open(newName(), { storage }) })
  transactionSuite({ test: prefixed(test, 'transactions, OPFS'), create: () => reopened(storage) })
  relationSuite({ test: prefixed(test, 'relations, OPFS'), create: () => ({ storage, name: newName() }) })
  encryptedPageStoreSuite(test, 'OPFS', storage)
  encryptedCollectionSuite(test, 'OPFS', storage)
}

const encryption = newDeviceKey().then((key) => ({ key }))

function encryptedPageStoreSuite(test: Test, kind: string, storage: DatabaseStorage): void {
  pageStoreSuite({
    test: prefixed(test, `encrypted, ${kind}: page store`),
    create: async () => ({ storage: new EncryptedStorage(storage, webPlatform, await encryption), name: newName() }),
    seals: true,
  })
}

/** The other suites run encrypted in Node, with WebCrypto too: test/storage/encrypted/suites.real.test.ts. */
function encryptedCollectionSuite(test: Test, kind: string, storage: DatabaseStorage): void {
  collectionSuite({
    test: prefixed(test, `encrypted, ${kind}: collection`),
    create: async () => open(newName(), { storage, encryption: await encryption }),
  })
}

/** WebKit has it on Apple's systems only. */
function hasFileSystem(): boolean {
  return 'getDirectory' in (navigator.storage ?? {})
}
