/** The rows of several scans, each document once. */
import type { EntryRow } from './entry-row.ts'
import type { Operator } from './operator.ts'

export class UnionOperator implements Operator<EntryRow> {
  private readonly inputs: readonly Operator<EntryRow>[]
  private readonly seen = new Set<number>()
  private at = 0

  constructor(inputs: readonly Operator<EntryRow>[]) {
    this.inputs = inputs
  }

  next(count: number): EntryRow[] | undefined {
    const rows = this.inputs[this.at]?.next(count)
    if (rows !== undefined) return rows.filter(({ number }) => !this.seen.has(number) && this.seen.add(number))
    return this.at++ < this.inputs.length ? [] : undefined
  }
}
