/** Every suite that runs inside a browser page: one line each. */
import { open } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { prefixed, type Test } from '../../testing/suite.ts'
import { webCoordinatorSuite } from '../coordination/web-coordinator-suite.ts'
import { indexedDbSuite } from '../storage/indexeddb-suite.ts'
import { environmentSuite } from './environment-suite.ts'

let databases = 0
const newName = (): string => `suite-${++databases}`

export function declareSuites(test: Test): void {
  environmentSuite({ test: prefixed(test, 'environment') })
  pageStoreSuite({
    test: prefixed(test, 'page store, memory'),
    create: async () => ({ storage: memory(), name: newName() }),
  })
  indexedDbSuite({ test: prefixed(test, 'page store, IndexedDB') })
  webCoordinatorSuite({ test: prefixed(test, 'coordinator') })
  collectionSuite({ test: prefixed(test, 'collection'), create: () => open(newName()) })
}
