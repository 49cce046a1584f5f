/** What the server says about transactions, in one local commit. docs/internals/client.md is the contract. */
import type { Database, Transaction } from 'pannier'
import { Overlay, received } from './overlay.ts'
import { storedOf, queueId, Store, type Queued } from './store.ts'
import { keyOf, type Values } from './writes.ts'

type PushedOutcome =
  | { readonly n: number; readonly status: 'ok' }
  | ({ readonly n: number; readonly status: 'rejected' } & Refusal)

interface Refusal {
  readonly at?: number
  readonly code: string
  readonly message: string
  readonly data?: Values
  readonly current?: Values | null
}

export interface PushAnswer {
  readonly boot: string
  readonly keepMs: number
  readonly outcomes: readonly PushedOutcome[]
}

/** Taken transactions wait for a pull that has them. Refused ones are moved to the rejected writes with those that build on them. */
export function applyOutcomes(db: Database, { boot, outcomes, keepMs }: PushAnswer, nowMs: number): Promise<void> {
  return db.transaction(async (tx) => {
    const { queue } = new Store(tx)
    for (const outcome of outcomes) {
      const queued = await queue.get(queueId(outcome.n))
      // Gone or done: another tab has had this answer, or it went with the one that it builds on.
      if (queued?.status !== 'waiting') continue
      const entry = storedOf(queued)
      if (outcome.status === 'ok') await queue.upsert({ ...entry, status: 'done', boot, keptUntil: nowMs + keepMs })
      else await reject(tx, entry, outcome)
    }
  })
}

/** Moves a transaction and those that build on it. What the server has appears again. */
async function reject(tx: Transaction, entry: Queued, refusal: Refusal): Promise<void> {
  const { queue, rejected } = new Store(tx)
  const group: Queued[] = [entry]
  for (const queued of await queue
    .find({ status: 'waiting', _id: { $gt: entry._id } })
    .sort('_id')
    .toArray()) {
    const buildsOn = queued.writes.some(
      (write) =>
        write.action !== 'create' &&
        typeof write.base === 'object' &&
        group.some(({ n }) => n === (write.base as { n: number } | null)?.n),
    )
    if (buildsOn) group.push(storedOf(queued))
  }
  const { at = 0, code, message, data = {}, current } = refusal
  await rejected.insert({
    _id: entry._id,
    n: entry.n,
    members: group.map(({ n }) => n),
    writes: group.flatMap(({ writes }) => writes),
    was: group.flatMap(({ was }) => was),
    at,
    code,
    message,
    data,
    current: current ? received(current) : null,
  })
  for (const { _id } of group) await queue.purge(_id)
  const keys = group.flatMap(({ writes }) => writes.map(({ collection, id }) => keyOf(collection, id)))
  await new Overlay(tx).compute(keys)
}
