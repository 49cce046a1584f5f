/** The format of a device's writes, and of the server's outcomes: docs/internals/sync-writes.md. */
import type { ErrorData } from '../../gateway/service-error.ts'
import type { RecordInput, RecordJson } from '../../records/record-types.ts'

/**
 * The base of a write: a revision, or the result of write `at` of transaction `n`; null: any state. `rev`: that revision, as the device
 * knows it. It counts if the outcome of the transaction is forgotten.
 */
export type PushBase = string | { readonly n: number; readonly at: number; readonly rev?: string } | null

/** New files by the keys of file fields, such as `photo` and `photos+`. They come beside the transactions, under the name of a part. */
export type PushFiles = Readonly<Record<string, readonly { readonly part: string; readonly name: string }[]>>

/** One write of a transaction. `collection`: its name. */
export type PushWrite =
  | {
      readonly collection: string
      readonly action: 'create'
      readonly id: string
      readonly values: RecordInput
      readonly files?: PushFiles
    }
  | {
      readonly collection: string
      readonly action: 'update'
      readonly id: string
      readonly base: PushBase
      /** Only the fields that change. */
      readonly values: RecordInput
      readonly files?: PushFiles
      /** The values of these fields when the device changed them: it merges by field. */
      readonly was?: Readonly<Record<string, unknown>>
      /** By field, the write of this device that stored what it had. The server may have stored another value than was sent. */
      readonly own?: Readonly<Record<string, OwnWrite>>
    }
  | { readonly collection: string; readonly action: 'delete'; readonly id: string; readonly base: PushBase }

/** An earlier write of the device. */
export interface OwnWrite {
  /** The number of its transaction. */
  readonly n: number
  /** The position among the writes of the transaction, from 0. */
  readonly at: number
}

/** By write: digests of fields that are stored otherwise than they were sent. */
export type GeneratedValues = readonly Readonly<Record<string, string>>[]

/** Writes that are all or nothing. */
export interface PushTransaction {
  /** The number (`n`) of a transaction, from 1. The device gives each transaction a greater one. */
  readonly n: number
  /** The writes in the order in which they are judged. */
  readonly writes: readonly PushWrite[]
}

/** The code of a rejected push: why. `DEPENDS`: it builds on one that was rejected, or that is not known. */
export type PushCode = 'FORBIDDEN' | 'INVALID' | 'CONFLICT' | 'NOT_FOUND' | 'DEPENDS'

/** The outcome of a transaction, as it is stored: with no record. */
export type StoredOutcome =
  /** `revs`: of the record after each write; null after a delete. */
  | { readonly status: 'ok'; readonly revs: readonly (string | null)[]; readonly made?: GeneratedValues }
  /** `at`: the first write that was refused. */
  | {
      readonly status: 'rejected'
      readonly at: number
      readonly code: PushCode
      readonly message: string
      readonly data?: ErrorData
    }

/** As a device gets it. `current`: what the account may list of the record now. */
export type PushOutcome = { readonly n: number } & (
  | Omit<Extract<StoredOutcome, { readonly status: 'ok' }>, 'made'>
  | (Extract<StoredOutcome, { readonly status: 'rejected' }> & { readonly current: RecordJson | null })
)

/** The answer to a push. */
export interface Pushed {
  /** The name of this start of the server. */
  readonly boot: string
  /** In the order of the transactions. Those at the end that have none are sent again. If no one has any, the device pulls before. */
  readonly outcomes: readonly PushOutcome[]
}

/** Which acknowledged transactions stand in the state that a pull answers from, and which are not there. */
export interface Acknowledged {
  /** The name of this start of the server. */
  readonly boot: string
  /** Numbers of transactions whose outcome stands in the state of the pull. */
  readonly covered: readonly number[]
  /** Numbers that the server does not know: it was restored from an older backup. They are sent again. */
  readonly unknown: readonly number[]
  /** Outcomes of this number and of smaller ones may be forgotten, as they are old. No backup without them will be restored. */
  readonly forgotten: number
}
