/**
 * Goal: whatever documents go through (writes, conflicts, attachments, local documents, purge, compaction, indexes, migrations,
 * drop), nothing acknowledged is lost and nothing is half done, whichever backend call fails and however, also one layer further down:
 * operations of the disk below the raw files of OPFS, calls of an abstract-level database.
 * Method: testing/database-crash-simulation.ts; a random call for many seeds, and calls in turn.
 */
import { simulateDatabase } from '../../testing/database-crash-simulation.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { callsInTurn, randomCallsIn } from '../crash-cases.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
]

randomCallsIn(simulateDatabase, {
  'a page store': { share: 2, callsMax: [10, 40, 120] },
  'raw files': { share: 1, callsMax: [10, 60, 200] },
  LevelDB: { share: 1, callsMax: [20, 60, 150] },
})
callsInTurn(simulateDatabase, { faults: FAULTS, stride: 25 })
