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

/** A record is about to be shown, in an answer or a message. */
interface RecordEnrichEvent extends RequestEvent {
  readonly record: HookRecord
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

/** Somebody has shown who it is, and is about to get a token. */
interface RecordAuthRequestEvent extends RecordRequestEvent {
  /** How it was shown: `password`, `otp`, `oauth2`. */
  readonly authMethod: string
}

/** What a handler may change of a mail. */
interface MailMessage {
  to: string
  subject: string
  html: string
  text: string
}

/** A mail is about to be sent. */
interface MailerEvent extends AppEvent {
  readonly message: MailMessage
}

/** A mail is about to be sent to an account. */
interface MailerRecordEvent extends MailerEvent {
  readonly record: HookRecord
}

/** The mails that accounts get. */
export type AccountMail = 'AuthAlert' | 'EmailChange' | 'OTP' | 'PasswordReset' | 'Verification'

/** A page of records is about to be answered. */
interface RecordsListRequestEvent extends RequestEvent {
  readonly collection: Definition
  /** Handlers may change it. */
  readonly result: { items: Readonly<Record<string, unknown>>[] }
}

/** A record is about to be answered. */
interface RecordViewRequestEvent extends RequestEvent {
  readonly collection: Definition
  /** What the client gets. Handlers may change it. */
  readonly result: Record<string, unknown>
}

const ACCOUNT_MAILS: readonly AccountMail[] = ['AuthAlert', 'EmailChange', 'OTP', 'PasswordReset', 'Verification']
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
} & {
  readonly [Mail in AccountMail as `onMailerRecord${Mail}Send`]: MailerRecordEvent
} & {
  readonly onRecordAuthRequest: RecordAuthRequestEvent
  readonly onRecordsListRequest: RecordsListRequestEvent
  readonly onRecordViewRequest: RecordViewRequestEvent
  readonly onRecordEnrich: RecordEnrichEvent
  readonly onMailerSend: MailerEvent
}

/** The name of an event: `onRecordCreate`. */
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
  ...ACCOUNT_MAILS.map((mail): HookName => `onMailerRecord${mail}Send`),
  'onRecordAuthRequest',
  'onRecordsListRequest',
  'onRecordViewRequest',
  'onRecordEnrich',
  'onMailerSend',
]
