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

/** Somebody has shown who it is, by a login or a token, and is about to get a token. */
interface RecordAuthRequestEvent extends RecordRequestEvent {
  /** The method of the login (auth): `password`, `otp`, `oauth2`. Empty for a refresh. */
  readonly authMethod: string
  /** The token of the login, after `await e.next()`. */
  readonly token?: string
}

/** The definition of a collection is made, changed or deleted. */
export interface CollectionEvent extends AppEvent {
  /** As it will be; of a delete, as it is. */
  readonly collection: Definition
  readonly type: 'create' | 'update' | 'delete' | 'validate'
}

/** The definition of a collection could not be changed. */
interface CollectionErrorEvent extends CollectionEvent {
  readonly error: unknown
}

/** A backup is made or restored. */
interface BackupEvent extends AppEvent {
  /** The name of its file. */
  readonly name: string
}

/** A client of realtime is sent a message. */
interface RealtimeMessageEvent extends AppEvent {
  readonly client: {
    readonly id: string
    /** The account that has subscribed; undefined for guests. */
    readonly auth: HookRecord | undefined
  }
  /** Handlers may change it. */
  readonly message: { name: string; data: object }
}

/** Somebody logs in by another service, which has said who that is. */
interface RecordAuthWithOAuth2RequestEvent extends RequestEvent {
  readonly collection: Definition
  /** The account, before it is linked; undefined: a new one will be made. */
  readonly record: HookRecord | undefined
  readonly isNewRecord: boolean
  readonly providerName: string
  /** The service's data about its user. */
  readonly oAuth2User: Readonly<Record<string, unknown>>
  /** Values of a new account. Handlers may change them. */
  readonly createData: Record<string, unknown>
}

/** The parts of a mail that a handler may change. */
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
  /** The secrets of the mail: `token`, `newEmail`, `otpId`, `password`, `info`. */
  readonly meta: Readonly<Record<string, string>>
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
interface RecordViewRequestEvent extends RecordRequestEvent {
  /** The result: the answer to the client. Handlers may change it. */
  readonly result: Record<string, unknown>
}

const ACCOUNT_MAILS: readonly AccountMail[] = ['AuthAlert', 'EmailChange', 'OTP', 'PasswordReset', 'Verification']
const KINDS = ['Create', 'Update', 'Delete'] as const
type Kind = (typeof KINDS)[number]
/** The steps of records and of definitions. */
type Steps = 'Validate' | `${Kind}${'' | 'Execute'}` | `After${Kind}Success`

/** The arguments of handlers, by the name of the event. */
export type HookEvents = {
  readonly [Step in Steps as `on${'Model' | 'Record'}${Step}`]: RecordEvent
} & {
  readonly [Step in Steps as `onCollection${Step}`]: CollectionEvent
} & {
  readonly [Step in Kind as `onCollectionAfter${Step}Error`]: CollectionErrorEvent
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
  readonly onRecordAuthWithOAuth2Request: RecordAuthWithOAuth2RequestEvent
  readonly onMailerSend: MailerEvent
  readonly onRealtimeMessageSend: RealtimeMessageEvent
  readonly onBackupCreate: BackupEvent
  readonly onBackupRestore: BackupEvent
  readonly onSettingsReload: AppEvent
  readonly onBootstrap: AppEvent
  readonly onTerminate: AppEvent
}

/** The name of an event: `onRecordCreate`. */
export type HookName = keyof HookEvents

/** The names of all hooks. */
export const HOOK_NAMES: readonly HookName[] = [
  ...(['onModel', 'onRecord', 'onCollection'] as const).flatMap((on): HookName[] => [
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
  'onRecordAuthWithOAuth2Request',
  'onMailerSend',
  'onRealtimeMessageSend',
  'onBackupCreate',
  'onBackupRestore',
  'onSettingsReload',
  'onBootstrap',
  'onTerminate',
]
