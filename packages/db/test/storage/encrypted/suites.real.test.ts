/**
 * Everything that a database does it does encrypted: the suites of what is above the page store, over memory that is sealed with
 * WebCrypto (asynchronous, as in browsers), or as `open` does it in Node.
 */
import { test } from 'vitest'
import { open, type Database } from '../../../src/index.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import { attachmentSuite } from '../../../testing/conformance/attachments.ts'
import { changeFeedSuite } from '../../../testing/conformance/change-feed.ts'
import { collectionSuite } from '../../../testing/conformance/collection.ts'
import { indexSuite } from '../../../testing/conformance/indexes.ts'
import { liveQuerySuite } from '../../../testing/conformance/live-queries.ts'
import { replicationSuite } from '../../../testing/conformance/replication.ts'
import { revisionsSuite } from '../../../testing/conformance/revisions.ts'
import { snapshotSuite } from '../../../testing/conformance/snapshot.ts'
import { viewSuite } from '../../../testing/conformance/views.ts'
import { ofFewSeeds, prefixed } from '../../../testing/suite.ts'
import { deviceKey, encrypted, platforms } from './fixture.ts'

const [, [, web]] = platforms as [(typeof platforms)[0], (typeof platforms)[0]]

/** Nothing above the page store sees that pages are sealed. */
const few = ofFewSeeds(test, 1)

const openWeb = (): Promise<Database> => open('x', { storage: encrypted(memory(), web), cacheBytesMax: 1024 * 1024 })
const openNode = (): Promise<Database> => open('x', { storage: memory(), encryption: { key: deviceKey } })

function handles(): { open: () => Promise<Database> } {
  const storage = memory()
  return { open: () => open('x', { storage, encryption: { key: deviceKey } }) }
}

collectionSuite({ test: prefixed(test, 'collection'), create: openWeb })
indexSuite({ test: prefixed(few, 'indexes'), create: openWeb })
revisionsSuite({ test: prefixed(test, 'revisions'), create: openNode })
attachmentSuite({ test: prefixed(test, 'attachments'), create: openWeb })
viewSuite({ test: prefixed(few, 'views'), create: openWeb })
replicationSuite({ test: prefixed(test, 'replication'), create: openNode })
changeFeedSuite({ test: prefixed(test, 'change feed'), create: handles, supports: { handles: true } })
liveQuerySuite({ test: prefixed(few, 'live queries'), create: handles, supports: { handles: true } })
let count = 0
const storage = encrypted(memory(), web)
snapshotSuite({ test: prefixed(test, 'snapshot'), create: () => ({ storage, name: `x-${++count}` }) })
