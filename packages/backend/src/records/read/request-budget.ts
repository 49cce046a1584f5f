/** The cost limit of one request: it ends before it has delayed others for long. */
import type { RowBudget } from '@pannier/rules'
import type { Environment } from 'pannier/types'
import { invalid } from '../../gateway/service-error.ts'

/** Rows that rules, sorts and expands of one request read and try. */
const ROWS_MAX = 2_000_000
/** The longest time in seconds, as PocketBase. */
const SECONDS_MAX = 30

export class RequestBudget implements RowBudget {
  left: number
  readonly #environment: Pick<Environment, 'now'>
  readonly #end: number

  constructor(environment: Pick<Environment, 'now'>, rows: number = ROWS_MAX) {
    this.left = rows
    this.#environment = environment
    this.#end = environment.now() + SECONDS_MAX * 1000
  }

  /** Call it before work that is not counted. @throws ServiceError INVALID */
  check(): void {
    if (this.left <= 0) throw invalid('The request reads too many rows. Ask for fewer records, or for less of them.')
    if (this.#environment.now() >= this.#end) throw invalid(`The request takes longer than ${SECONDS_MAX} seconds.`)
  }

  /** @throws ServiceError INVALID */
  spend(rows: number): void {
    this.left -= rows
    this.check()
  }
}
