/** The common part of browsers and Node processes: a database is filled once, and each start has a copy of it. */
import type { DataSet } from '../documents.ts'
import type { Variant } from './variants.ts'

export interface Start {
  /** The agent, as the engine names itself. */
  readonly agent: string
  /** The rows that were shown. */
  readonly rows: readonly string[]
  /** The values in milliseconds, or bytes, by column. */
  readonly values: Readonly<Record<string, number>>
}

export interface Starter {
  fill(variant: Variant, set: DataSet): Promise<void>
  /** On a copy of what `fill` has left. `way`: how the files come to a page, or what Node is to do. */
  start(variant: Variant, way: string, set: DataSet): Promise<Start>
  forget(variant: Variant): void
}
