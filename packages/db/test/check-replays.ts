/**
 * Vitest loads it before each test file. Every commit of every test is replayed and compared. Bytes are compared by Node: vitest's
 * own comparison takes a microsecond for each.
 */
import { expect } from 'vitest'
import { checkReplays } from '../testing/replay-check.ts'

checkReplays()
expect.addEqualityTesters([
  (a, b) => (a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : undefined),
])
