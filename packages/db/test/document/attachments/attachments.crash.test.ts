/**
 * Goal: no fault loses an acknowledged attachment, damages one, or leaves bytes behind for ever.
 * Method: testing/attachment-crash-simulation.ts; calls in turn of one seed, a random call for many.
 */
import { simulateAttachments } from '../../../testing/attachment-crash-simulation.ts'
import type { Fault } from '../../../testing/simulated-page-store.ts'
import { callsInTurn, randomCalls } from '../../crash-cases.ts'

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_QUOTA_EXCEEDED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
]

callsInTurn(simulateAttachments, { faults: FAULTS, stride: 47, first: 3 })
randomCalls(simulateAttachments, { share: 1, callsMax: [5, 20, 60] })
