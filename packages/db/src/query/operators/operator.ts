/**
 * Operators pull rows from one another in batches. A step of a query is one call of the topmost `next` inside
 * `QuerySource.attempt`, so that everything a batch misses in memory is fetched together.
 */

/** Rows of the first batches of a query that may be left early, and of the largest ones. */
export const BATCH_ROWS_MIN = 32
export const BATCH_ROWS_MAX = 1024
/** Entries or documents that one step of a source looks at: bounds what a step keeps in memory. */
export const STEP_ROWS_MAX = 4096

export interface Operator<Row> {
  /**
   * At most `count` more rows, perhaps none for now; undefined at the end. Work is bounded, so callers call again. May throw
   * a Miss: then nothing is lost and nothing doubled by calling it again.
   */
  next(count: number): Row[] | undefined
}

/**
 * Makes rows of rows, batch by batch. `change` may throw a Miss as long as it has had no effect; it is then called again with
 * the same batch. Where it drops rows (`isSelective`) batches grow, so that few rows wanted don't mean tiny batches.
 */
export class BatchOperator<In, Out> implements Operator<Out> {
  private readonly input: Operator<In>
  private readonly change: (batch: readonly In[]) => Out[]
  private readonly isSelective: boolean
  private batchRows = BATCH_ROWS_MIN
  private pending: readonly In[] | undefined
  private ready: Out[] = []

  constructor(input: Operator<In>, isSelective: boolean, change: (batch: readonly In[]) => Out[]) {
    this.input = input
    this.isSelective = isSelective
    this.change = change
  }

  next(count: number): Out[] | undefined {
    if (this.ready.length === 0) {
      this.pending ??= this.input.next(this.isSelective ? Math.max(count, this.batchRows) : count)
      if (this.pending === undefined) return undefined
      this.ready = this.change(this.pending)
      this.pending = undefined
      this.batchRows = Math.min(this.batchRows * 2, BATCH_ROWS_MAX)
    }
    const rows = this.ready
    this.ready = rows.length > count ? rows.splice(count) : []
    return rows
  }
}
