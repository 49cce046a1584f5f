/** Checks that a write must pass whatever the rules are: docs/internals/sync-writes.md. */
import type { KnownDefinitions } from '../../access/rule-records.ts'
import { fileFieldMeant } from '../../fields/apply-input.ts'
import type { Principal } from '../../gateway/principal.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import { NO_FIELD, readsName } from '../../records/write/prepare-input.ts'
import type { RateLimitRule } from '../../settings/settings-values.ts'
import type { PushTransaction, PushWrite } from './push-format.ts'
import { refuse } from './rejection.ts'

const TRANSACTIONS_MAX = 100

/** The limit of a client's writes. */
export interface Limited {
  /** The rate limit that a write counts for. */
  readonly limitOf: (principal: Principal, write: PushWrite) => RateLimitRule | undefined
}

/** @throws ServiceError INVALID */
export function checkNumbers(transactions: readonly PushTransaction[]): void {
  if (transactions.length === 0 || transactions.length > TRANSACTIONS_MAX)
    throw new ServiceError('INVALID', `A push has 1 to ${TRANSACTIONS_MAX} transactions, got ${transactions.length}.`)
  for (const [index, { n }] of transactions.entries())
    if (index > 0 && n <= transactions[index - 1]!.n)
      throw new ServiceError(
        'INVALID',
        `Transactions come in the order of their numbers, got ${n} after ${transactions[index - 1]!.n}.`,
      )
}

/**
 * Refuses a field that is gone, or has another name now. REST ignores what it does not know. Here a text of a user would be lost.
 *
 * @throws BatchError
 */
export function checkFields(definitions: KnownDefinitions, writes: readonly PushWrite[]): void {
  for (const [at, write] of writes.entries()) {
    const definition = definitions.find(write.collection)
    if (definition === undefined || write.action === 'delete') continue
    const { values, files = {} } = write
    const unknown = [
      ...Object.keys(values).filter((name) => !readsName(definition, name)),
      ...Object.keys(files).filter((name) => fileFieldMeant(definition.fields, name) === undefined),
    ]
    if (unknown.length === 0) continue
    const data = Object.fromEntries(unknown.map((name) => [name, NO_FIELD]))
    const names = unknown.map((name) => `"${name}"`).join(', ')
    refuse(at, `"${definition.name}" has no field ${names}. It was renamed or removed.`, data)
  }
}

/** A window of a rate limit must have room for all of the writes. @throws BatchError */
export function checkLimits({ limitOf }: Limited, principal: Principal, writes: readonly PushWrite[]): void {
  const counts = new Map<string, number>()
  for (const [at, write] of writes.entries()) {
    const { action, collection } = write
    const sort = `${action} ${collection}`
    const count = (counts.get(sort) ?? 0) + 1
    counts.set(sort, count)
    const limit = limitOf(principal, write)
    if (limit === undefined || count <= limit.maxRequests) continue
    const allowed = `at most ${limit.maxRequests} writes "${action}" of "${collection}" in ${limit.duration} s`
    refuse(at, `A rate limit allows ${allowed}. The transaction has more. Send its writes in smaller ones.`)
  }
}
