/** What the tests in several tabs store. */
import type { Collection, Database } from '../../../src/index.ts'

export interface Row {
  readonly _id: string
  readonly n: number
  readonly group: number
  readonly text: string
}

export const ROWS = 'rows'

/** The database of a tab or worker, and its rows. */
export type Opened = () => { readonly database: Database; readonly rows: Collection<Row> }

const TEXT = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod. '.repeat(3)

export function someRow(_id: string, n: number): Row {
  return { _id, n, group: Math.abs(n % 7), text: `${n} ${TEXT}` }
}
