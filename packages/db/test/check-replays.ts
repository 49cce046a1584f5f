/** Vitest loads it before each test file: every commit of every test is replayed and compared. */
import { checkReplays } from '../testing/replay-check.ts'

checkReplays()
