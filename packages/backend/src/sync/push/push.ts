/**
 * Judges the transactions of devices, one after another. Each is all or nothing, in one commit with its outcome; a transaction that is known
 * is answered from that. docs/internals/sync-writes.md is the contract.
 */
import type { Database, Transaction } from 'pannier'
import { pause } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Access } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import { RECORDS_PREFIX } from '../../definitions/definition.ts'
import type { Definitions } from '../../definitions/definitions.ts'
import { toTexts } from '../../fields/cast.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { jsonSize } from '../../gateway/json-text.ts'
import type { Principal } from '../../gateway/principal.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import { BatchTimeout } from '../../records/batch-error.ts'
import type { RecordReads } from '../../records/record-reads.ts'
import type { RecordInput, RecordJson, UploadedFile } from '../../records/record-types.ts'
import type { RecordWrites } from '../../records/record-writes.ts'
import type { BatchedWrite } from '../../records/write/batch-writer.ts'
import type { RecordOperation, WrittenRecord } from '../../records/write/operations.ts'
import type { Settings } from '../../settings/settings.ts'
import { deviceOf, digestOf, type KnownOutcome, Outcomes } from './outcomes.ts'
import type { Acknowledged, PushOutcome, PushTransaction, PushWrite, StoredOutcome } from './push-format.ts'
import { checkFields, checkLimits, checkNumbers, type Limited } from './push-checks.ts'
import { generatedValues, ownValues } from './generated-values.ts'
import { depends, hindrance, refuse, rejection } from './rejection.ts'
import { assertAccount } from '../rules/sync-rules.ts'

export interface PushHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly access: Access
  readonly reads: RecordReads
  readonly writes: RecordWrites
  readonly settings: Settings
  readonly environment: Environment
}

/** Files of a push, by the names of their parts. */
type PushedFiles = ReadonlyMap<string, UploadedFile>

/** The device that pushes. */
export interface Pusher extends Limited {
  /** Asks who it is now: it may have changed since the request began. @throws ServiceError UNAUTHENTICATED */
  readonly actor: () => Promise<Actor>
  /** The device's id, which the client has made. */
  readonly device: string
  /** Files that came beside the transactions, by part. */
  readonly files: PushedFiles
  /** Counts a write that is about to be judged. @throws ServiceError TOO_MANY_REQUESTS */
  readonly count: (principal: Principal, write: PushWrite) => void
}

/** While the settings have no number for batches. */
const WRITES_MAX = 50
const SECONDS_MAX = 3
/** How often a transaction is judged again because the account changes. */
const ROUNDS_MAX = 100
/** How often a transaction may take too long before it is rejected. */
const TRIES_MAX = 3

/** The account is no longer as it was when the transaction began. */
class OutdatedAccount extends Error {}

export class Push {
  readonly #host: PushHost
  readonly #outcomes: Outcomes
  /** The last work of each device: no transaction is judged twice at the same time. */
  readonly #pushing = new Map<string, Promise<unknown>>()

  constructor(host: PushHost) {
    this.#host = host
    this.#outcomes = new Outcomes(host.database)
  }

  /**
   * The outcomes of transactions, in their order. Those after one that can't be judged now have no outcome.
   *
   * @throws ServiceError INVALID: a number was used for other writes; FORBIDDEN: an admin without an account; what hinders the first one
   */
  async push(pusher: Pusher, transactions: readonly PushTransaction[]): Promise<readonly PushOutcome[]> {
    checkNumbers(transactions)
    const { principal } = await pusher.actor()
    assertAccount(principal)
    const device = deviceOf(principal.account, pusher.device)
    return this.#afterLast(device, async () => {
      const known = new Map<number, KnownOutcome>()
      const stored = await this.#outcomes.get(
        device,
        transactions.map(({ n }) => n),
      )
      for (const [index, { n, writes }] of transactions.entries()) {
        const found = stored[index]
        if (found === undefined) continue
        known.set(n, found)
        if (found.digest !== digestOf(writes))
          throw new ServiceError(
            'INVALID',
            `Transaction ${n} of this device had other writes. Give each a number of its own.`,
          )
      }
      const outcomes: PushOutcome[] = []
      for (const transaction of transactions) {
        try {
          const { outcome } = known.get(transaction.n) ?? (await this.#judge(pusher, device, transaction))
          outcomes.push(await this.#shown(await pusher.actor(), transaction, outcome))
        } catch (error) {
          if (outcomes.length === 0) throw error
          break
        }
      }
      return outcomes
    })
  }

  /** Numbers of its transactions that the server knows as ok. Ask it before the state that it is about is read. */
  async acknowledged(
    { principal }: Actor,
    device: string,
    numbers: readonly number[],
  ): Promise<Omit<Acknowledged, 'boot'>> {
    const name = deviceOf(principal.account, device)
    // First: what is forgotten meanwhile is not unknown.
    const stored = await this.#outcomes.get(name, numbers)
    const forgotten = await this.#outcomes.forgottenTo(name)
    const isOk = (index: number): boolean => stored[index]?.outcome.status === 'ok' || numbers[index]! <= forgotten
    return {
      forgotten,
      covered: numbers.filter((_, index) => isOk(index)),
      unknown: numbers.filter((_, index) => !isOk(index)),
    }
  }

  /** Forgets what no device asks for any more. */
  removeOld(): Promise<void> {
    return this.#outcomes.removeOld(this.#host.environment.wallClock())
  }

  async #afterLast<T>(device: string, work: () => Promise<T>): Promise<T> {
    const before = this.#pushing.get(device)
    const pushed = (async () => {
      await before?.catch(() => {})
      return work()
    })()
    this.#pushing.set(device, pushed)
    try {
      return await pushed
    } finally {
      if (this.#pushing.get(device) === pushed) this.#pushing.delete(device)
    }
  }

  async #judge(pusher: Pusher, device: string, transaction: PushTransaction): Promise<KnownOutcome> {
    const digest = digestOf(transaction.writes)
    try {
      const revs = await this.#written(pusher, device, transaction, digest)
      return { digest, outcome: { status: 'ok', revs } }
    } catch (error) {
      // It is written, whatever a hook has said afterwards.
      const [known] = await this.#outcomes.get(device, [transaction.n])
      if (known !== undefined) return known
      const outcome = rejection(error, transaction.writes)
      if (outcome === undefined) throw hindrance(error)
      await this.#host.database.transaction((place: Transaction) =>
        this.#outcomes.keep(place, device, transaction.n, { digest, outcome }, this.#host.environment.wallClock()),
      )
      return { digest, outcome }
    }
  }

  /** Resolves with the revisions that were written. What can never pass is refused, so it blocks no queue. @throws BatchError, ServiceError */
  async #written(
    pusher: Pusher,
    device: string,
    transaction: PushTransaction,
    digest: string,
  ): Promise<readonly (string | null)[]> {
    const { actor, count, files } = pusher
    const { writes } = transaction
    const { maxRequests, timeout } = this.#host.settings.values.batch
    const max = maxRequests || WRITES_MAX
    if (writes.length > max) refuse(max, `A transaction has at most ${max} writes, got ${writes.length}.`)
    const { principal } = await actor()
    checkFields(this.#host.definitions, writes)
    checkLimits(pusher, principal, writes)
    for (const write of writes) count(principal, write)
    const seconds = timeout || SECONDS_MAX
    const workMsMax = writes.length === 1 ? Infinity : seconds * 1000
    for (let tried = 1; ; tried++) {
      try {
        return await this.#write(actor, device, transaction, { digest, workMsMax, files })
      } catch (error) {
        if (!(error instanceof BatchTimeout)) throw error
        if (tried === TRIES_MAX)
          refuse(0, `The transaction took longer than ${seconds} s, ${tried} times. Send its writes in smaller ones.`)
      }
    }
  }

  /** Writes it, and resolves with the revisions. @throws BatchError, BatchTimeout, ServiceError */
  async #write(
    actor: Pusher['actor'],
    device: string,
    transaction: PushTransaction,
    { digest, workMsMax, files }: { readonly digest: string; readonly workMsMax: number; readonly files: PushedFiles },
  ): Promise<readonly (string | null)[]> {
    const { n, writes } = transaction
    for (let round = 1; ; round++) {
      const { principal, request } = await actor()
      const operations = await Promise.all(
        writes.map(async (write, at): Promise<BatchedWrite | ServiceError> => {
          const base = await this.#revisionOf(principal, device, n, writes, at)
          if (base instanceof ServiceError) return base
          const operation = operationOf(write, base, files)
          const asked = { ...request, method: METHODS[write.action] }
          if (operation.action !== 'update') return { ...operation, request: asked }
          return { ...operation, isOwn: await ownValues(this.#outcomes, device, transaction, at), request: asked }
        }),
      )
      let revs: readonly (string | null)[] = []
      try {
        await this.#host.writes.writeTogether(principal, operations, {
          workMsMax,
          first: (place) => assertCurrent(place, principal),
          last: (place, written) => {
            revs = written.map(revOf)
            const made = generatedValues(writes, written)
            const outcome: StoredOutcome = { status: 'ok', revs, ...(made && { made }) }
            return this.#outcomes.keep(place, device, n, { digest, outcome }, this.#host.environment.wallClock())
          },
        })
        return revs
      } catch (error) {
        if (!(error instanceof OutdatedAccount)) throw error
        if (round === ROUNDS_MAX) throw new ServiceError('UNAVAILABLE', 'The account keeps changing. Try again later.')
        await pause(this.#host.environment, round)
      }
    }
  }

  /** The revision that a write is based on, as the account sees it. Undefined: whatever is there. */
  async #revisionOf(
    principal: Principal,
    device: string,
    n: number,
    writes: readonly PushWrite[],
    at: number,
  ): Promise<string | undefined | ServiceError> {
    const write = writes[at]!
    if (write.action === 'create' || write.base === null) return undefined
    const { base, collection, id } = write
    if (typeof base === 'string') return base
    if (base.n === n) {
      // Nobody writes in between.
      const before = base.at < at ? writes[base.at] : undefined
      return before?.collection === collection && before.id === id ? undefined : depends(base.n)
    }
    const [known] = await this.#outcomes.get(device, [base.n])
    if (known === undefined && base.rev !== undefined) return base.rev
    const revs = known?.outcome.status === 'ok' ? known.outcome.revs : []
    const rev = revs[base.at] ?? null
    return rev === null ? depends(base.n) : (this.#shownRev({ principal }, write, rev) ?? rev)
  }

  async #shown(actor: Actor, { n, writes }: PushTransaction, outcome: StoredOutcome): Promise<PushOutcome> {
    if (outcome.status === 'ok')
      return { n, status: 'ok', revs: outcome.revs.map((rev, at) => this.#shownRev(actor, writes[at], rev)) }
    return { n, ...outcome, current: await this.#currentOf(actor, writes[outcome.at]) }
  }

  /** A stored revision, as the account sees it. */
  #shownRev({ principal }: Pick<Actor, 'principal'>, write: PushWrite | undefined, rev: string | null): string | null {
    const definition = write && this.#host.definitions.find(write.collection)
    return definition === undefined || rev === null
      ? null
      : this.#host.access.revisions.of(principal, definition, write!.id, rev)
  }

  /** The record as the account may list it now; null: it may not. */
  async #currentOf(actor: Actor, write: PushWrite | undefined): Promise<RecordJson | null> {
    const { definitions, reads } = this.#host
    const definition = write && definitions.find(write.collection)
    if (definition === undefined || definition.type === 'view') return null
    const document = await reads.stored(definition, write!.id)
    if (document === undefined || !(await reads.admits(actor, definition, 'list', document))) return null
    actor.budget?.take(jsonSize(document))
    const [shown] = await reads.show(actor, definition, [document], { fields: '*,_rev' })
    return shown!
  }
}

const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const

/** Rules ask about the account as it is in this commit. @throws OutdatedAccount */
async function assertCurrent(place: Transaction, { account }: Principal): Promise<void> {
  if (account === undefined) return
  const { collection, record } = account
  const now = await place.collection<JsonObject>(`${RECORDS_PREFIX}${collection}`).get(String(record['_id']))
  if (now?._rev !== record['_rev']) throw new OutdatedAccount()
}

/** @throws ServiceError INVALID: a file did not come */
function operationOf(write: PushWrite, rev: string | undefined, files: PushedFiles): RecordOperation {
  const { action, collection, id } = write
  const base = rev === undefined ? {} : { rev }
  if (action === 'create') return { action, collection, input: { ...inputOf(write, files), id } }
  if (action === 'update') {
    const seen = write.was === undefined ? {} : { was: write.was }
    return { action, collection, id, input: inputOf(write, files), ...base, ...seen }
  }
  return { action, collection, id, ...base }
}

/** The values, with new files after the names of those that stay. @throws ServiceError INVALID */
function inputOf(
  { values, files = {} }: Pick<Exclude<PushWrite, { readonly action: 'delete' }>, 'values' | 'files'>,
  pushed: PushedFiles,
): RecordInput {
  const added = Object.entries(files).map(([key, all]): [string, unknown[]] => {
    const uploads = all.map(({ part, name }) => {
      const file = pushed.get(part)
      if (file !== undefined) return { name, size: file.size, stream: () => file.stream() }
      throw new ServiceError('INVALID', `The file "${part}" must come with the transaction that names it.`)
    })
    return [key, [...toTexts(values[key]), ...uploads]]
  })
  return { ...values, ...Object.fromEntries(added) }
}

function revOf(written: WrittenRecord | undefined): string | null {
  return written === undefined ? null : String(written.document['_rev'])
}
