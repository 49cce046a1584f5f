/**
 * Goal: on an SQLite file queries, aggregates, views and live queries give what the naive evaluators give, as they do in memory
 * (packages/db/test/query and view) and in IndexedDB (packages/db/test/browser/suites.ts). Method: the same suites.
 */
import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { aggregateSuite } from '../../testing/conformance/aggregates.ts'
import { liveQuerySuite } from '../../testing/conformance/live-queries.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { viewSuite } from '../../testing/conformance/views.ts'
import { prefixed } from '../../testing/suite.ts'
import { sqliteKeyValueStores, temporaryFiles } from '../key-value-stores.ts'

const newPath = temporaryFiles()
const create = sqliteKeyValueStores()

querySuite({ test: prefixed(test, 'queries'), create })
aggregateSuite({ test: prefixed(test, 'aggregates'), create })
viewSuite({ test: prefixed(test, 'views'), create: () => open(newPath(), { storage: sqlite() }) })
liveQuerySuite({
  test: prefixed(test, 'live queries'),
  create: () => {
    const path = newPath()
    return { open: () => open(path, { storage: sqlite() }) }
  },
  supports: { handles: true },
})
