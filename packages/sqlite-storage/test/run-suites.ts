/** The suites of the library over one storage, for runtimes without a test runner of ours. */
import { open, type Database } from 'pannier'
import type { DatabaseStorage } from 'pannier/storage'
import { attachmentSuite } from '../../db/testing/conformance/attachments.ts'
import { changeFeedSuite } from '../../db/testing/conformance/change-feed.ts'
import { collectionSuite } from '../../db/testing/conformance/collection.ts'
import { encryptionSuite } from '../../db/testing/conformance/encryption.ts'
import { importExportSuite } from '../../db/testing/conformance/import-export.ts'
import { indexSuite } from '../../db/testing/conformance/indexes.ts'
import { liveQuerySuite } from '../../db/testing/conformance/live-queries.ts'
import { pageStoreSuite } from '../../db/testing/conformance/page-store.ts'
import { replicationSuite } from '../../db/testing/conformance/replication.ts'
import { snapshotSuite } from '../../db/testing/conformance/snapshot.ts'
import { transactionSuite } from '../../db/testing/conformance/transactions.ts'
import { viewSuite } from '../../db/testing/conformance/views.ts'
import { ofFewSeeds, type Test } from '../../db/testing/suite.ts'

export interface Outcome {
  passed: number
  readonly failed: string[]
}

/** Cases that a runtime can't pass, by what it lacks. */
export interface Lacks {
  /** No WebCrypto: no encryption. */
  readonly webCrypto?: boolean
  /** No `fetch` of its own: Node's does not work with the globals of another runtime. */
  readonly fetch?: boolean
  /** No `TransformStream`: no exports and snapshots. */
  readonly transformStream?: boolean
}

interface Case {
  readonly name: string
  readonly body: () => void | Promise<void>
}

export function runSuites(storage: DatabaseStorage, folder = '', lacks: Lacks = {}): Promise<Outcome> {
  const cases: Case[] = []
  const test: Test = ofFewSeeds((name, body) => void cases.push({ name, body }), 1)
  let databases = 0
  const newName = (): string => `${folder}${++databases}.db`
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
  indexSuite({ test, create })
  viewSuite({ test, create })
  if (lacks.fetch !== true) replicationSuite({ test, create })
  if (lacks.webCrypto !== true) encryptionSuite({ test, create: place })
  attachmentSuite({ test, create })
  if (lacks.transformStream === true) return outcomeOf(cases)
  importExportSuite({ test, create })
  snapshotSuite({ test, create: place })
  return outcomeOf(cases)
}

async function outcomeOf(cases: readonly Case[]): Promise<Outcome> {
  const outcome: Outcome = { passed: 0, failed: [] }
  for (const { name, body } of cases)
    try {
      await body()
      outcome.passed++
    } catch (error) {
      outcome.failed.push(`${name}: ${String(error)}`)
    }
  return outcome
}
