/** The events that hooks can be bound to, by PocketBase's names, and what handlers get. */
import type { RequestInfo } from '../access/actor.ts'
import type { Definition } from '../definitions/definition.ts'
import type { HookApp } from './hook-app.ts'
import type { HookRecord } from './hook-record.ts'
import type { RequestEvent } from './request-event.ts'

interface AppEvent {
  readonly app: HookApp
}

/** Something is done with a record. */
export interface RecordEvent extends AppEvent {
  readonly record: HookRecord
  readonly type: 'create' | 'update' | 'delete' | 'validate'
}

/** A record could not be written. */
export interface RecordErrorEvent extends RecordEvent {
  readonly error: unknown
}

/** Somebody asks to do something with a record. */
export interface RecordRequestEvent extends RequestEvent {
  readonly collection: Definition
  readonly record: HookRecord
}

/** A record is about to be shown. */
export interface RecordEnrichEvent extends AppEvent {
  readonly record: HookRecord
  requestInfo(): RequestInfo
}

type RecordSteps =
  | 'Validate'
  | `${'Create' | 'Update' | 'Delete'}${'' | 'Execute'}`
  | `After${'Create' | 'Update' | 'Delete'}Success`
type RecordFailures = `After${'Create' | 'Update' | 'Delete'}Error`

/** What handlers get, by the name of the event. */
export type HookEvents = {
  readonly [Step in RecordSteps as `on${'Model' | 'Record'}${Step}`]: RecordEvent
} & {
  readonly [Step in RecordFailures as `on${'Model' | 'Record'}${Step}`]: RecordErrorEvent
} & {
  readonly [Step in 'Create' | 'Update' | 'Delete' | 'View' as `onRecord${Step}Request`]: RecordRequestEvent
} & {
  readonly onRecordEnrich: RecordEnrichEvent
}

export type HookName = keyof HookEvents
