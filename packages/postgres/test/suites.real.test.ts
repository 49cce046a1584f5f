/** Goal: what holds of databases in any storage holds on PostgreSQL, also for the handles of several processes. */
import { test } from 'vitest'
import { open, type Database } from '../../db/src/index.ts'
import { systemEnvironment } from '../../db/src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../db/src/kv/open.ts'
import { attachmentSuite } from '../../db/testing/conformance/attachments.ts'
import { changeFeedSuite } from '../../db/testing/conformance/change-feed.ts'
import { collectionSuite } from '../../db/testing/conformance/collection.ts'
import { indexSuite } from '../../db/testing/conformance/indexes.ts'
import { keyValueHandlesSuite } from '../../db/testing/conformance/key-value-handles.ts'
import { liveQuerySuite } from '../../db/testing/conformance/live-queries.ts'
import { revisionsSuite } from '../../db/testing/conformance/revisions.ts'
import { snapshotSuite } from '../../db/testing/conformance/snapshot.ts'
import { transactionSuite } from '../../db/testing/conformance/transactions.ts'
import { viewSuite } from '../../db/testing/conformance/views.ts'
import { ofFewSeeds, prefixed } from '../../db/testing/suite.ts'
import { deviceKey } from '../../db/test/storage/encrypted/fixture.ts'
import { EVERYWHERE } from '../../../tools/test/seeds.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

/** `npm run nightly` runs all seeds. */
const few = EVERYWHERE ? test : ofFewSeeds(test, 1)

onPostgres((get) => {
  const openNew = (): Promise<Database> => open(newName(), { storage: postgres(get().url) })
  /** Each handle is of a process of its own. */
  const servers = (): { open: () => Promise<Database> } => {
    const name = newName()
    return { open: () => open(name, { storage: postgres(get().url) }) }
  }

  collectionSuite({ test: prefixed(test, 'collection'), create: openNew })
  collectionSuite({
    test: prefixed(few, 'collection, encrypted'),
    create: () => open(newName(), { storage: postgres(get().url), encryption: { key: deviceKey } }),
  })
  indexSuite({ test: prefixed(few, 'indexes'), create: openNew })
  revisionsSuite({ test: prefixed(few, 'revisions'), create: openNew })
  attachmentSuite({ test: prefixed(few, 'attachments'), create: openNew })
  viewSuite({ test: prefixed(few, 'views'), create: openNew })
  transactionSuite({ test: prefixed(few, 'transactions'), create: servers })
  changeFeedSuite({ test: prefixed(few, 'change feed'), create: servers, supports: { handles: true } })
  liveQuerySuite({ test: prefixed(few, 'live queries'), create: servers, supports: { handles: true } })
  snapshotSuite({
    test: prefixed(test, 'snapshot'),
    create: () => ({ storage: postgres(get().url), name: newName() }),
  })
  keyValueHandlesSuite({
    test: prefixed(test, 'handles'),
    create: () => {
      const name = newName()
      return {
        async open() {
          const [storage, environment] = [postgres(get().url), systemEnvironment()]
          const coordinator = storage.coordinator!(name, environment)
          const [cacheBytesMax, durability] = [1_000_000, 'strict'] as const
          return openKeyValueStore({ store: storage.open(name), coordinator, environment, cacheBytesMax, durability })
        },
      }
    },
    supports: { handles: true },
  })
})
