/** A place for tests to look at each commit: `testing/replay-check.ts`. Nothing is there in use. */
import type { State } from './state.ts'

/** Called when a record is in the log and its changes are in memory. What it throws fails the write. */
export type CommitInspection = (before: State, record: Uint8Array, after: State) => void

export const commitInspection: { inspect: CommitInspection | undefined } = { inspect: undefined }
