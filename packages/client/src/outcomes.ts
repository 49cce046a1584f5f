/** Applies the outcomes of transactions, in one local commit. Loaded with the first write that is sent. */
import type { Database, Transaction } from 'pannier'
import type { Merge, Merges } from './declaration.ts'
import type { WriteMeans } from './local-transaction.ts'
import { Overlay, received } from './overlay.ts'
import { storedOf, queueId, Store, type Queued, type Refused } from './store.ts'
import { keyOf, basedOn, type SentWrite, type Values } from './writes.ts'

type PushedOutcome =
  | { readonly n: number; readonly status: 'ok'; readonly revs: readonly (string | null)[] }
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
  readonly outcomes: readonly PushedOutcome[]
}

/** Taken transactions wait for a pull that has them. Refused ones are moved to the rejected writes with those that build on them. */
export function applyOutcomes(db: Database, { boot, outcomes }: PushAnswer, means: WriteMeans): Promise<void> {
  return db.transaction(async (tx) => {
    const { queue } = new Store(tx)
    for (const outcome of outcomes) {
      const queued = await queue.get(queueId(outcome.n))
      // Gone or done: another tab has had this answer, or it went with the one that it builds on.
      if (queued?.status !== 'waiting') continue
      const entry = storedOf(queued)
      if (outcome.status === 'ok') await queue.upsert({ ...entry, status: 'done', boot, revs: outcome.revs })
      else await reject(tx, entry, outcome, means)
    }
  })
}

/** Moves a transaction and those that build on it, or merges them. What the server has appears again. */
async function reject(tx: Transaction, entry: Queued, refusal: Refusal, means: WriteMeans): Promise<void> {
  const { queue, rejected } = new Store(tx)
  const group: Queued[] = [entry]
  /** With a function that merges, a write may be based on another one, and on the shown revision: see `#baseOf`. */
  const isOnShown = (write: SentWrite): boolean =>
    typeof means.merges[write.collection] === 'function' && write.action === 'update' && write.base !== null
  for (const queued of await queue
    .find({ status: 'waiting', _id: { $gt: entry._id } })
    .sort('_id')
    .toArray()) {
    const buildsOn = (write: SentWrite): boolean =>
      group.some(
        ({ n, touches }) =>
          n === basedOn(write) || (isOnShown(write) && touches.includes(keyOf(write.collection, write.id))),
      )
    if (queued.writes.some(buildsOn)) group.push(storedOf(queued))
  }
  const { at = 0, code, message, data = {}, current } = refusal
  const refused: Refused = {
    _id: entry._id,
    n: entry.n,
    members: group.flatMap((queued) => [queued.n, ...queued.merges]),
    writes: group.flatMap(({ writes }) => writes),
    was: group.flatMap(({ was }) => was),
    at,
    code,
    message,
    data,
    current: current ? received(current) : null,
    tries: Math.max(...group.map(({ tries }) => tries)),
    isOver: false,
  }
  for (const { _id } of group) await queue.purge(_id)
  const keys = refused.writes.map(({ collection, id }) => keyOf(collection, id))
  await new Overlay(tx).compute(keys)
  const merge = mergeOf(refused, means.merges)
  const left =
    merge === undefined ? refused : await (await import('./merging.ts')).writeMerged(tx, merge, refused, means)
  if (left !== undefined) await rejected.insert(left)
}

/** The app's function for a conflict. */
function mergeOf({ code, at, writes, current }: Refused, merges: Merges): Merge | undefined {
  const write = writes[at]!
  const merge = merges[write.collection]
  const isMergeable = code === 'CONFLICT' && current !== null && write.action === 'update'
  return isMergeable && typeof merge === 'function' ? merge : undefined
}
