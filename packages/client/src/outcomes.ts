/** What the server says about transactions, in one local commit. docs/internals/client.md is the contract. */
import type { Database, Transaction } from 'pannier'
import type { Merge, Merges } from './declaration.ts'
import { LocalTransaction } from './local-transaction.ts'
import { Overlay, received } from './overlay.ts'
import { storedOf, queueId, REV, Store, type Queued, type Refused } from './store.ts'
import { keyOf, shownValues, withValues, written, type SentWrite, type Values } from './writes.ts'

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
export function applyOutcomes(db: Database, { boot, outcomes }: PushAnswer, merges: Merges): Promise<void> {
  return db.transaction(async (tx) => {
    const { queue } = new Store(tx)
    for (const outcome of outcomes) {
      const queued = await queue.get(queueId(outcome.n))
      // Gone or done: another tab has had this answer, or it went with the one that it builds on.
      if (queued?.status !== 'waiting') continue
      const entry = storedOf(queued)
      if (outcome.status === 'ok') await queue.upsert({ ...entry, status: 'done', boot, revs: outcome.revs })
      else await reject(tx, entry, outcome, merges)
    }
  })
}

/** Moves a transaction and those that build on it, or merges them. What the server has appears again. */
async function reject(tx: Transaction, entry: Queued, refusal: Refusal, merges: Merges): Promise<void> {
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
  const merge = mergeOf(refused, merges)
  const { writes, problem } = merge === undefined ? NOT_MERGED : tryMerge(merge, refused)
  if (writes === undefined) await rejected.insert({ ...refused, message: message + problem })
  else await writeAgain(tx, { ...refused, writes }, merges)
}

/** What conflicts again and again is for the user: a function that others are faster than, or two that never agree. */
const TRIES_MAX = 20

interface MergeResult {
  /** All writes of the transaction, merged. */
  readonly writes: readonly SentWrite[] | undefined
  readonly problem: string
}

const NOT_MERGED: MergeResult = { writes: undefined, problem: '' }

/** The app's function for a conflict. */
function mergeOf({ code, at, writes, current }: Refused, merges: Merges): Merge | undefined {
  const write = writes[at]!
  const merge = merges[write.collection]
  const isMergeable = code === 'CONFLICT' && current !== null && write.action === 'update'
  return isMergeable && typeof merge === 'function' ? merge : undefined
}

/** Merges the refused update, and those after it of the same record, each into what the one before has made. */
function tryMerge(merge: Merge, { at, writes, was, current, tries }: Refused): MergeResult {
  if (tries === TRIES_MAX) return { writes: undefined, problem: ` "merge" was called ${tries} times.` }
  const { collection, id } = writes[at]!
  const { [REV]: _, ...record }: Values = current!
  let theirs: Values = record
  const merged: SentWrite[] = []
  for (const [index, write] of writes.entries()) {
    if (index < at || write.action !== 'update' || write.collection !== collection || write.id !== id) {
      merged.push(write)
      continue
    }
    try {
      const values = merge({ id, base: was[index] ?? {}, mine: shownValues(write), theirs })
      if (values === undefined) return NOT_MERGED
      const again = withValues(write, values)
      merged.push(again)
      theirs = written(theirs, again)!
    } catch (error) {
      // A mistake of the app stops no other write.
      return { writes: undefined, problem: ` "merge" has failed: ${String(error)}` }
    }
  }
  return { writes: merged, problem: '' }
}

/** Takes the place of a refused transaction. The write that was refused is made on what the server has. */
async function writeAgain(
  tx: Transaction,
  { at, writes, current, members, tries }: Refused,
  merges: Merges,
): Promise<void> {
  const local = await LocalTransaction.begin(tx, merges)
  for (const [index, write] of writes.entries()) await local.again(write, index === at ? current! : undefined)
  await local.end({ merges: members, tries: tries + 1 })
}
