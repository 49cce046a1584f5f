/**
 * The suites of the library as a program, for a runtime without a test runner of ours: `RUNTIME program.mjs memory|file FOLDER`. Its last
 * line is JSON: how many cases have passed, and those that have failed.
 */
import { argv } from 'node:process'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { changeFeedSuite } from '../../testing/conformance/change-feed.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { encryptionSuite } from '../../testing/conformance/encryption.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'
import { indexSuite } from '../../testing/conformance/indexes.ts'
import { liveQuerySuite } from '../../testing/conformance/live-queries.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { replicationSuite } from '../../testing/conformance/replication.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'
import { transactionSuite } from '../../testing/conformance/transactions.ts'
import { viewSuite } from '../../testing/conformance/views.ts'
import { ofFewSeeds, type Test } from '../../testing/suite.ts'

interface RuntimeOutcome {
  passed: number
  readonly failed: string[]
}

const [, , kind, folder] = argv
const storage: DatabaseStorage = kind === 'memory' ? memory() : sqlite()
const cases: { readonly name: string; readonly body: () => void | Promise<void> }[] = []
const test: Test = ofFewSeeds((name, body) => void cases.push({ name, body }), 1)
let databases = 0

const newName = (): string => `${folder}/${++databases}`
const create = (): Promise<Database> => open(newName(), { storage })
const place = (): { storage: DatabaseStorage; name: string } => ({ storage, name: newName() })
const reopened = (): { open(): Promise<Database> } => {
  const name = newName()
  return { open: () => open(name, { storage }) }
}

pageStoreSuite({ test, create: async () => place() })
collectionSuite({ test, create })
transactionSuite({ test, create: reopened })
changeFeedSuite({ test, create: reopened, supports: { handles: true } })
liveQuerySuite({ test, create: reopened, supports: { handles: true } })
attachmentSuite({ test, create })
importExportSuite({ test, create })
snapshotSuite({ test, create: place })
encryptionSuite({ test, create: place })
// What is above the storage is the same on each.
if (kind === 'memory') {
  indexSuite({ test, create })
  viewSuite({ test, create })
  replicationSuite({ test, create })
}

const outcome: RuntimeOutcome = { passed: 0, failed: [] }
for (const { name, body } of cases)
  try {
    await body()
    outcome.passed++
  } catch (error) {
    outcome.failed.push(`${name}: ${String(error)}`)
  }
console.log(JSON.stringify(outcome))
