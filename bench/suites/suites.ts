/** All suites, the lab's own first. */
import { indexedDbPerfSuite } from './indexed-db-perf.ts'
import { jsonStoreSuite } from './json-store.ts'
import { pouchDbSuite } from './pouchdb.ts'
import { standardSuite } from './standard.ts'
import type { Suite } from './suite.ts'

export const SUITES: readonly Suite[] = [standardSuite, jsonStoreSuite, indexedDbPerfSuite, pouchDbSuite]

export function suiteOf(name: string): Suite {
  const suite = SUITES.find((one) => one.name === name)
  if (suite === undefined) throw new TypeError(`there is no suite ${name}`)
  return suite
}
