/** The page that runs the suite on IndexedDB. It stands on what the library's own suites test. */
import { indexedDb } from 'pannier/indexeddb'
import { prefixed } from 'pannier/testing'
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { jsonStoreSuite } from '../../testing/suite.ts'

let stores = 0

void runCases((test) => {
  jsonStoreSuite({
    test: prefixed(test, 'jsonstore'),
    create: async () => ({ storage: indexedDb(), name: `jsonstore${++stores}` }),
  })
})
