/** Writes of single records: as they are asked for, and as they are ready. */
import type { TransactionCollection } from 'pannier'
import type { Actor } from '../../access/actor.ts'
import { recordsName, type Definition } from '../../definitions/definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { SYSTEM } from '../../gateway/principal.ts'
import type { HookChange, HookRecord } from '../../hooks/hook-record.ts'
import type { RecordInput } from '../record-types.ts'
import type { Draft } from './draft.ts'

/** The server itself. */
export const ITSELF: Actor = {
  principal: SYSTEM,
  request: { context: 'default', method: 'PATCH', query: {}, headers: {} },
}

/** Where a write takes place. */
export interface CollectionSource {
  collection<T extends object>(name: string): TransactionCollection<T>
}

export function recordsIn(place: CollectionSource, definition: Definition): TransactionCollection<JsonObject> {
  return place.collection<JsonObject>(recordsName(definition))
}

/** Fields of a record, as somebody wants them. */
interface WantedFields {
  readonly input: RecordInput
  /** The changes of hooks, in order. */
  readonly changes?: readonly HookChange[]
  /** Whether it is a form. False: a program writes, which confirms no passwords. */
  readonly isForm?: boolean
  /** Whether fields take values that they refuse. */
  readonly isUnchecked?: boolean
  /** Values of autodate fields, in place of those that come by themselves. */
  readonly autodates?: Readonly<Record<string, string>>
  /** The draft that hooks have seen, with their changes. */
  readonly begun?: Draft
}

/** A write of one record. */
export type RecordOperation =
  | ({ readonly action: 'create'; readonly collection: string } & WantedFields)
  /** Changes the record with the id of the input, or makes it. */
  | ({ readonly action: 'upsert'; readonly collection: string } & WantedFields)
  | ({
      readonly action: 'update'
      readonly collection: string
      readonly id: string
      /** Only if this is the revision of the record. */
      readonly rev?: string
      /** Or if the fields that change have these values, which the sender has seen. */
      readonly was?: Readonly<Record<string, unknown>>
      /** Or if an earlier write of the sender has made the value. */
      readonly isOwn?: (field: string, value: unknown) => boolean
    } & WantedFields)
  | { readonly action: 'delete'; readonly collection: string; readonly id: string; readonly rev?: string }

/** A record as it is stored now. */
export interface WrittenRecord {
  readonly definition: Definition
  readonly document: JsonObject
  /** `@request.body` of the write, if it was a request. */
  readonly body?: JsonObject
}

/** A write that is ready. */
export interface PreparedWrite {
  /** Other records change with it, so it takes a transaction. */
  readonly isWide: boolean
  /** Runs the write. May be called again. Resolves with undefined after a delete. @throws ServiceError, OutdatedWrite */
  run(place: CollectionSource): Promise<WrittenRecord | undefined>
  /** Call it when it is stored: after the commit. It throws nothing. */
  written(): void
  /** Call it when the write has ended, whatever came of it. */
  release(): void
}

/** Stores what a program has set: a new record, or the changes of one. */
export function saving(record: HookRecord, isUnchecked: boolean): RecordOperation {
  const changes = [...record.changes]
  const wanted = { collection: record.collection().id, input: {}, changes, isForm: false, isUnchecked }
  return record.isNew() ? { action: 'create', ...wanted } : { action: 'update', id: record.id, ...wanted }
}
