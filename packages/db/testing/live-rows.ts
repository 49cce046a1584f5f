/** Applies the changes of a live query to a list as a subscriber does, and checks them. */
import type { LiveQuery } from '../src/query/live/live-query.ts'
import type { LiveChange, LiveUpdate } from '../src/query/live/live-types.ts'
import { assertEqual, assertTrue, CheckError } from './check.ts'
import { aMoment } from './suite.ts'

/** The rows after the steps; fails if one does not fit. */
export function applyChanges<Row>(rows: readonly Row[], changes: readonly LiveChange<Row>[]): Row[] {
  const list = [...rows]
  for (const change of changes) {
    const { index } = change
    if (change.type === 'added') {
      assertTrue(index <= list.length, 'a row is added inside the rows or at their end')
      list.splice(index, 0, change.row)
    } else if (change.type === 'removed') {
      assertTrue(list[index] === change.row, 'the row that is removed is there')
      list.splice(index, 1)
    } else if (change.type === 'changed') {
      assertTrue(list[index] === change.from && change.from !== change.row, 'the row that changes is there')
      list[index] = change.row
    } else {
      assertTrue(list[change.fromIndex] === change.from && change.fromIndex !== index, 'the row that moves is there')
      list.splice(change.fromIndex, 1)
      list.splice(index, 0, change.row)
    }
  }
  return list
}

/** Follows a live query by its steps alone. */
export class Follower<Row extends object> {
  readonly live: LiveQuery<Row>
  readonly updates: LiveUpdate<Row>[] = []
  rows: readonly Row[] | undefined
  /** What it has found wrong: a listener can't fail a test. */
  failure: unknown
  ended = false
  error: unknown
  readonly stop: () => void

  constructor(live: LiveQuery<Row>) {
    this.live = live
    this.stop = live.subscribe(
      (update) => {
        try {
          this.#follow(update)
        } catch (error) {
          this.failure ??= error
        }
      },
      {
        onEnd: (error) => {
          this.ended = true
          this.error = error
        },
      },
    )
  }

  /** Waits until it has come to these rows. */
  async reach(rows: readonly Row[], what = 'the rows of a live query'): Promise<void> {
    await eventually(() => this.failure !== undefined || (same(this.live.value, rows) && same(this.rows, rows)))
    if (this.failure !== undefined) throw this.failure
    assertEqual(this.live.value, rows, what)
    assertEqual(this.rows, rows, `${what}, by its changes`)
  }

  #follow({ rows, changes }: LiveUpdate<Row>): void {
    const before = this.rows
    const applied = applyChanges(before ?? [], changes)
    assertTrue(
      applied.length === rows.length && applied.every((row, at) => row === rows[at]),
      'the changes give the rows',
    )
    assertTrue(before === undefined || changes.length > 0, 'an update has changes')
    this.updates.push({ rows, changes })
    this.rows = rows
  }
}

/** Other work continues in the meantime. Resolves in any case after a while. */
export async function eventually(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20_000; turn++) {
    if (condition()) return
    await aMoment()
  }
}

function same(left: unknown, right: unknown): boolean {
  try {
    assertEqual(left, right)
    return true
  } catch (error) {
    if (error instanceof CheckError) return false
    throw error
  }
}
