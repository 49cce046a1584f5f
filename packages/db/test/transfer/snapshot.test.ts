/** The suite of snapshots. */
import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { snapshotSuite } from '../../testing/conformance/snapshot.ts'

const storage = memory()
let count = 0
snapshotSuite({ test, create: () => ({ storage, name: `db-${++count}` }) })
