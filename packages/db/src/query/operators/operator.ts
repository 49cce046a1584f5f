/**
 * Operators pull rows from one another in batches. A step of a query is one call of the topmost `next` inside
 * `QuerySource.attempt`, so everything that a batch misses is loaded together.
 */
/** Batch sizes: the first of a query that may end early, the first of one that is read to its end, and the largest. */
export const BATCH_ROWS_MIN = 32
export const BATCH_ROWS_WHOLE = 2048
export const BATCH_ROWS_MAX = 2048
/** Entries or documents that one step of a source looks at: bounds what a step keeps in memory. */
export const STEP_ROWS_MAX = 4096

/** How long a step may look for rows. Documents are sometimes large, or hard to test. */
const STEP_MS_MAX = 8
/** Between two looks at the clock, which takes as long as a quick row; slow rows are looked at one by one. */
const QUICK_ROWS = 16
const QUICK_ROWS_MS_MAX = 1

/** Ask it before each row but the first: whether the step has to end. So each step makes progress. */
export function stepClock(now: () => number): () => boolean {
  const startMs = now()
  let lookedMs = startMs
  let rowsLeft = 2
  return () => {
    if (--rowsLeft > 0) return false
    const nowMs = now()
    rowsLeft = nowMs - lookedMs < QUICK_ROWS_MS_MAX ? QUICK_ROWS : 1
    lookedMs = nowMs
    return nowMs - startMs > STEP_MS_MAX
  }
}

export interface Operator<Row> {
  /**
   * At most `count` more rows, perhaps none for now; undefined at the end. Work is bounded, so callers call again. May throw
   * a Miss: then nothing is lost and nothing doubled by calling it again.
   */
  next(count: number): Row[] | undefined
}

/** Counts the rows of a step, which is named by its access path or its work. */
export interface Tally {
  add(step: object | string, rows: number): void
}

/** The same rows; the tally counts them. */
export function tallied<Row>(input: Operator<Row>, tally: Tally | undefined, step: object | string): Operator<Row> {
  if (tally === undefined) return input
  return {
    next: (count) => {
      const rows = input.next(count)
      if (rows !== undefined) tally.add(step, rows.length)
      return rows
    },
  }
}

/** The result for the first rows of a batch. */
interface Changed<Out> {
  readonly rows: Out[]
  /** Rows taken from the batch, at least one; the others come with the next call. */
  readonly taken: number
}

/**
 * Transforms rows batch by batch. `change` may throw a Miss as long as it has had no effect; it is then called again
 * with the same batch. If it drops rows (`isSelective`), batches grow, so that few wanted rows do not mean tiny
 * batches.
 */
export function changeBatches<In, Out>(
  input: Operator<In>,
  isSelective: boolean,
  change: (batch: readonly In[]) => Changed<Out>,
): Operator<Out> {
  let batchRows = BATCH_ROWS_MIN
  let pending: readonly In[] | undefined
  let ready: Out[] = []
  return {
    next: (count) => {
      if (ready.length === 0) {
        pending ??= input.next(isSelective ? Math.max(count, batchRows) : count)
        if (pending === undefined) return undefined
        const { rows, taken } = change(pending)
        ready = rows
        pending = taken < pending.length ? pending.slice(taken) : undefined
        batchRows = Math.min(batchRows * 2, BATCH_ROWS_MAX)
      }
      const rows = ready
      ready = rows.length > count ? rows.splice(count) : []
      return rows
    },
  }
}

/** A row of a key scan: the document's number and, if wanted, the values of fields in the key. */
export interface EntryRow {
  readonly number: number
  /** By the position of the field; undefined if the document has to be asked. */
  readonly values: readonly unknown[] | undefined
}

/** Ends after `limit` rows, and asks for no more than these. */
export function limitRows<Row>(input: Operator<Row>, limit: number): Operator<Row> {
  let remaining = limit
  return {
    next: (count) => {
      if (remaining === 0) return undefined
      const rows = input.next(Math.min(count, remaining))
      remaining -= rows?.length ?? 0
      return rows
    },
  }
}
