/** Ends after `limit` rows, and asks for no more than these. */
import type { Operator } from './operator.ts'

export class LimitOperator<Row> implements Operator<Row> {
  private readonly input: Operator<Row>
  private remaining: number

  constructor(input: Operator<Row>, limit: number) {
    this.input = input
    this.remaining = limit
  }

  next(count: number): Row[] | undefined {
    if (this.remaining === 0) return undefined
    const rows = this.input.next(Math.min(count, this.remaining))
    this.remaining -= rows === undefined ? 0 : rows.length
    return rows
  }
}
