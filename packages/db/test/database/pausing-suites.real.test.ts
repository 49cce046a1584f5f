/**
 * Goal: the suites hold on storages that answer later, when nothing stays in memory between two steps. Method: no cache, pages so
 * small that trees have several levels, storage checkpoints between commits, and pauses in each call of the storage.
 */
import { afterAll, beforeAll, test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import type { Database } from '../../src/database/database.ts'
import { LocalPeer } from '../../src/database/replication/local-peer.ts'
import { aggregateSuite } from '../../testing/conformance/aggregates.ts'
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { changeFeedSuite } from '../../testing/conformance/change-feed.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { documentListSuite } from '../../testing/conformance/document-lists.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'
import { indexSuite } from '../../testing/conformance/indexes.ts'
import { liveQuerySuite } from '../../testing/conformance/live-queries.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { replicationSuite } from '../../testing/conformance/replication.ts'
import { replicationPeerSuite } from '../../testing/conformance/replication-peer.ts'
import { revisionsSuite } from '../../testing/conformance/revisions.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'
import { viewSuite } from '../../testing/conformance/views.ts'
import { seededRandom } from '../../testing/random.ts'
import { openCold, openColdStore } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { useSmallPages } from '../../testing/small-pages.ts'
import { ofFewSeeds, prefixed } from '../../testing/suite.ts'
import { FIRST_SEED } from '../../../../tools/test/seeds.ts'

let largePages = (): void => {}
beforeAll(() => {
  largePages = useSmallPages()
})
afterAll(() => largePages())

/** Pauses and small pages matter to what a case does, and hardly to what chance chose for it. */
const few = ofFewSeeds(test)

/** Another SEED: other pauses, other storage checkpoints. */
let databases = 1000 * (FIRST_SEED - 1)
const create = (): Promise<Database> => handles().open()
const createStore = (): ReturnType<typeof openColdStore> => {
  const checkpoints = seededRandom(++databases)
  return openColdStore(`x${databases}`, slow(memory(), databases), { checkpoints })
}
function handles(): { open(): Promise<Database> } {
  const checkpoints = seededRandom(++databases)
  const storage = slow(memory(), databases)
  return { open: () => openCold('x', storage, { checkpoints }) }
}

collectionSuite({ test: prefixed(test, 'collection'), create })
attachmentSuite({ test: prefixed(test, 'attachments'), create })
querySuite({ test: prefixed(few, 'query'), create: createStore })
aggregateSuite({ test: prefixed(few, 'aggregates'), create: createStore })
indexSuite({ test: prefixed(few, 'indexes'), create })
viewSuite({ test: prefixed(few, 'views'), create })
changeFeedSuite({ test: prefixed(test, 'change feed'), create: handles, supports: { handles: true } })
liveQuerySuite({ test: prefixed(few, 'live queries'), create: handles, supports: { handles: true } })
documentListSuite({ test: prefixed(test, 'document lists'), create })
revisionsSuite({ test: prefixed(test, 'revisions'), create })
importExportSuite({ test: prefixed(test, 'import and export'), create })
replicationSuite({ test: prefixed(test, 'replication'), create })
replicationPeerSuite({
  test: prefixed(test, 'replication peer'),
  create: async () => {
    const db = await create()
    return { peer: new LocalPeer(db.collection<JsonObject>('docs')), close: () => db.close() }
  },
})
const storage = slow(memory(), databases)
snapshotSuite({ test: prefixed(test, 'snapshot'), create: () => ({ storage, name: `x${++databases}` }) })
