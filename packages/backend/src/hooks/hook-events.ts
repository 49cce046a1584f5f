/** The events that hooks can be bound to, by PocketBase's names, and what handlers get. */
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
interface RecordErrorEvent extends RecordEvent {
  readonly error: unknown
}

/** Somebody asks to do something with a record. */
interface RecordRequestEvent extends RequestEvent {
  readonly collection: Definition
  readonly record: HookRecord
}

const KINDS = ['Create', 'Update', 'Delete'] as const
type Kind = (typeof KINDS)[number]
type RecordSteps = 'Validate' | `${Kind}${'' | 'Execute'}` | `After${Kind}Success`

/** What handlers get, by the name of the event. */
export type HookEvents = {
  readonly [Step in RecordSteps as `on${'Model' | 'Record'}${Step}`]: RecordEvent
} & {
  readonly [Step in Kind as `on${'Model' | 'Record'}After${Step}Error`]: RecordErrorEvent
} & {
  readonly [Step in Kind as `onRecord${Step}Request`]: RecordRequestEvent
}

export type HookName = keyof HookEvents

/** All of them. */
export const HOOK_NAMES: readonly HookName[] = [
  ...(['onModel', 'onRecord'] as const).flatMap((on): HookName[] => [
    `${on}Validate`,
    ...KINDS.flatMap((kind): HookName[] => [
      `${on}${kind}`,
      `${on}${kind}Execute`,
      `${on}After${kind}Success`,
      `${on}After${kind}Error`,
    ]),
  ]),
  ...KINDS.map((kind): HookName => `onRecord${kind}Request`),
]
