/** A write of the app, and what becomes of it: it waits, it is taken, or it is refused and stays until the app retries or discards it. */
import { ClientError, reasonOf } from './client-error.ts'
import type { LocalTransaction } from './local-transaction.ts'
import type { Replica } from './replica.ts'
import { Store, type Queued, type Refused } from './store.ts'
import { shownValues, valuesOf, withValues, type SentWrite, type Values } from './writes.ts'

/** The server's answer to a write. */
export type ServerAnswer =
  | { readonly status: 'ok' }
  /** The refused write, which is in `client.rejected` until it is retried or discarded. */
  | { readonly status: 'rejected'; readonly rejected: RejectedWrite }

/**
 * Awaited: the write is stored on this device, and the app sees it. Its `server` tells what the server said, which may be days later.
 *
 * @example
 * const write = tasks.create({ title: 'Buy milk' })
 * const task = await write
 * const answer = await write.server
 * if (answer.status === 'rejected') show(task, answer.rejected.message)
 */
export class Write<R> implements PromiseLike<R> {
  readonly #local: Promise<R>
  readonly #answered: () => Promise<ServerAnswer>

  /** @internal */
  constructor(local: Promise<R>, answered: () => Promise<ServerAnswer>) {
    this.#local = local
    this.#answered = answered
  }

  /** Resolves when the server has answered. A write that was not stored here rejects. */
  get server(): Promise<ServerAnswer> {
    return this.#local.then(this.#answered)
  }

  /** The promise's `then`, for `await`. */
  // oxlint-disable-next-line unicorn/no-thenable
  then<A = R, B = never>(
    resolved?: ((value: R) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#local.then(resolved, rejected)
  }

  /**
   * As of a promise.
   *
   * @example
   * const task = await tasks.create({ title: 'Buy milk' }).catch(() => undefined)
   */
  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<R | B> {
    return this.#local.catch(rejected)
  }

  /**
   * As of a promise.
   *
   * @example
   * const task = await tasks.create({ title: 'Buy milk' }).finally(() => show('stored'))
   */
  finally(ended?: (() => void) | null): Promise<R> {
    return this.#local.finally(ended)
  }
}

/** One write of a transaction that is unsent or was rejected: what is to be shown beside each other. */
export interface RecordWrite {
  /** The name of the collection. */
  readonly collection: string
  /** The id of the record. */
  readonly id: string
  /** The action of the write on the record. */
  readonly action: 'create' | 'update' | 'delete'
  /** The values that were written; for an update the fields that it changes. */
  readonly mine: Values
  /** The values that the write found in these fields; null: there was no record. */
  readonly base: Values | null
}

/** An unsent transaction, which the server has not answered. */
export interface UnsentWrite {
  /** Names it among all that wait on this device. */
  readonly id: string
  /** All writes of the transaction. */
  readonly writes: readonly RecordWrite[]
}

/** A refused transaction, with those of this device that build on it: they go together. */
export class RejectedWrite {
  /** Names it among all rejected writes of this device. */
  readonly id: string
  /** The place among `writes` of the one that was refused. */
  readonly at: number
  /** `FORBIDDEN`, `INVALID`, `CONFLICT`, `NOT_FOUND` or `DEPENDS`. */
  readonly code: string
  /** Why, for a person: with the reason of each field. */
  readonly message: string
  /** The data: reasons by field. */
  readonly data: Values
  /** All writes of the transaction, and of those that build on it. None if it was retried or discarded before `write.server` was asked. */
  readonly writes: readonly RecordWrite[]
  /** The record of the refused write as the server has it; null: the account sees no such record. */
  readonly theirs: Values | null
  readonly #replica: Replica
  readonly #writes: readonly SentWrite[]

  /** @internal */
  constructor(replica: Replica, refused: Refused) {
    const { _id, at, code, message, data, writes, was, current } = refused
    this.id = _id
    this.at = at
    this.code = code
    this.message = reasonOf(message, data)
    this.data = data
    this.theirs = current
    this.writes = shownWrites({ writes, was })
    this.#replica = replica
    this.#writes = writes
  }

  /**
   * Writes all of them again, based on what is there now. `edit` gives the values of a write; undefined leaves the write out.
   *
   * @throws ClientError PANNIER_NOT_FOUND: it was retried or discarded meanwhile
   * @example
   * await rejected.retry(({ mine }) => ({ ...mine, title: 'Another title' }))
   */
  retry(edit: (write: RecordWrite) => Values | undefined = ({ mine }) => mine): Write<void> {
    return startWrite(this.#replica, async (tx) => {
      if (!(await tx.endRejected(this.id)))
        throw new ClientError('PANNIER_NOT_FOUND', 'The write was retried or discarded meanwhile.')
      for (const [index, write] of this.#writes.entries()) {
        const values = valuesOf('retry', () => edit(this.writes[index]!))
        if (values !== undefined) await tx.again(write.action === 'delete' ? write : withValues(write, values))
      }
    })
  }

  /** Discards them. */
  async discard(): Promise<void> {
    await this.#replica.write((tx) => tx.endRejected(this.id))
  }
}

function shownWrites({ writes, was }: Pick<Queued, 'writes' | 'was'>): readonly RecordWrite[] {
  return writes.map((write, index) => ({
    collection: write.collection,
    id: write.id,
    action: write.action,
    mine: shownValues(write),
    base: was[index] ?? null,
  }))
}

/** All writes that wait, in the order in which they are sent. */
export async function unsentOf(replica: Replica): Promise<UnsentWrite[]> {
  const all = await new Store(replica.db).waiting()
  return all.map((queued) => ({ id: queued._id, writes: shownWrites(queued) }))
}

/** All refused writes, the oldest first. */
export async function rejectedOf(replica: Replica): Promise<RejectedWrite[]> {
  const all = await new Store(replica.db).undecided()
  return all.map((refused) => new RejectedWrite(replica, refused))
}

/** Runs `body` at once. */
export function startWrite<R>(replica: Replica, body: (tx: LocalTransaction) => Promise<R>): Write<R> {
  const done = replica.write(body)
  const answered = async (): Promise<ServerAnswer> => {
    const { n } = await done
    const outcome = n === undefined ? ({ status: 'ok' } as const) : await replica.outcome(n)
    if (outcome.status === 'ok') return outcome
    return { status: 'rejected', rejected: new RejectedWrite(replica, outcome.refused) }
  }
  return new Write(
    done.then(({ result }) => result),
    answered,
  )
}
