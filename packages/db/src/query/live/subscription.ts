/** The subscribers of a live query, and the last state that each of them got. */
import { tellListener } from '../../base/callback.ts'
import type { LiveState, LiveUpdate, LiveView, Subscriber } from './live-types.ts'
import type { CountRow } from './held-count.ts'
import { rowChanges } from './row-changes.ts'

const EMPTY: LiveView = { ids: [], rows: [] }

export class Subscription {
  readonly #subscriber: Subscriber
  readonly #state: LiveState
  readonly #updateBetween: UpdateBetween
  #seen: LiveView | undefined
  #stopped = false

  constructor(subscriber: Subscriber, state: LiveState, updateBetween: UpdateBetween) {
    this.#subscriber = subscriber
    this.#state = state
    this.#updateBetween = updateBetween
  }

  get hearsEnd(): boolean {
    return this.#subscriber.onEnd !== undefined
  }

  flush(): void {
    const { view } = this.#state
    if (view === undefined || view === this.#seen || this.#stopped) return
    const update = this.#updateBetween(this.#seen, view)
    this.#seen = view
    if (update !== undefined) tellListener(() => this.#subscriber.update(update))
  }

  stop(): void {
    this.#stopped = true
  }

  end(error: unknown): void {
    if (!this.#stopped) tellListener(() => this.#subscriber.onEnd?.(error))
  }
}

/** Tells how one state became another, or of a count what it is now; undefined if there is nothing new. */
export type UpdateBetween = (from: LiveView | undefined, to: LiveView) => LiveUpdate<object> | number | undefined

export const updatedCount: UpdateBetween = (from, to) => {
  const count = countIn(to)
  return from !== undefined && countIn(from) === count ? undefined : count
}

function countIn({ rows }: LiveView): number {
  return (rows[0] as CountRow).count
}

/** The last answer is kept, because all readers of a query ask for the same. */
export function updates(): UpdateBetween {
  let last:
    | { readonly from: LiveView | undefined; readonly to: LiveView; readonly update: LiveUpdate<object> }
    | undefined
  return (from, to) => {
    if (from === to) return undefined
    if (last?.from !== from || last?.to !== to)
      last = { from, to, update: { rows: to.rows, changes: rowChanges(from ?? EMPTY, to) } }
    const { update } = last
    return from === undefined || update.changes.length > 0 ? update : undefined
  }
}

export function isSameView(left: LiveView, right: LiveView): boolean {
  let at = left.ids.length === right.ids.length ? left.ids.length : 0
  while (at > 0 && left.rows[at - 1] === right.rows[at - 1] && left.ids[at - 1] === right.ids[at - 1]) at--
  return at === 0 && left.ids.length === right.ids.length
}
