import type { LongWork } from './byte-stream.ts'

export interface SnapshotOptions extends LongWork {
  /** Whether it takes a password or key of the database to restore it. By default it does if the database is encrypted. */
  readonly sealed?: boolean
}
