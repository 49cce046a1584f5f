/**
 * Set-up of each process of vitest. Every commit of every test is replayed and compared. Bytes are compared by Node: vitest's own
 * comparison takes a microsecond for each. Properties draw the same inputs in every run.
 */
import { relative } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { RandomBits } from '../../../packages/db/testing/random.ts'
import { checkReplays } from '../../../packages/db/testing/replay-check.ts'
import { root } from '../../checks/packages.ts'
import { FIRST_SEED, replayCommand, times } from '../seeds.ts'

checkReplays()

expect.addEqualityTesters([
  (a, b) => (a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : undefined),
])

// Each property starts its own stream: what ran before in the process is nothing to it.
fc.configureGlobal({
  seed: FIRST_SEED,
  numRuns: times(100),
  randomType: (seed) => new RandomBits(seed),
  reporter(details) {
    if (!details.failed) return
    const file = relative(root, expect.getState().testPath ?? '')
    const message = `${fc.defaultReportMessage(details)}\n\nReplay: ${replayCommand(file)}`
    throw new Error(message, { cause: details.errorInstance })
  },
})
