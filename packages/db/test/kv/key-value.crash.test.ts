/**
 * Goal: nothing acknowledged is lost and nothing is half applied, whichever backend call fails and however, also one layer further down:
 * operations of the disk below the raw files of OPFS, calls of an abstract-level database.
 * Method: testing/crash-simulation.ts; calls in turn, and a random call for many seeds.
 */
import { simulate } from '../../testing/crash-simulation.ts'
import type { Fault } from '../../testing/simulated-page-store.ts'
import { callsInTurn, randomCallsIn } from '../crash-cases.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: true },
  { kind: 'closed' },
]

callsInTurn(simulate, { faults: FAULTS, stride: 13 })
randomCallsIn(simulate, {
  'a page store': { share: 4, callsMax: [10, 40, 100] },
  'raw files': { share: 2, callsMax: [10, 60, 200] },
  LevelDB: { share: 2, callsMax: [20, 60, 150] },
})
