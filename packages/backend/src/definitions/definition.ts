/** The definition of a collection of the application, as PocketBase's API has it, with its secrets. */
import type { FieldDefinition } from '../fields/field-definition.ts'

/** `null`: superusers only. `''`: everybody. Else a rule. */
export type Rule = string | null

interface DefinitionBase {
  /** Stays when the collection is renamed. */
  readonly id: string
  readonly name: string
  readonly system: boolean
  readonly listRule: Rule
  readonly viewRule: Rule
  readonly createRule: Rule
  readonly updateRule: Rule
  readonly deleteRule: Rule
  readonly fields: readonly FieldDefinition[]
  /** `CREATE INDEX …` */
  readonly indexes: readonly string[]
  /** `2026-11-22 15:04:49.813Z` */
  readonly created: string
  readonly updated: string
}

export interface BaseDefinition extends DefinitionBase {
  readonly type: 'base'
}

export interface ViewDefinition extends DefinitionBase {
  readonly type: 'view'
  readonly viewQuery: string
}

/** How long tokens of a kind are valid, and what they are signed with, beside the key of the record. */
export interface TokenOptions {
  /** Seconds. */
  readonly duration: number
  readonly secret: string
}

export interface MailTemplate {
  readonly subject: string
  readonly body: string
}

/** A provider of OAuth2 that a collection admits. What is empty is as the provider has it. */
export interface ProviderOptions {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  readonly authURL: string
  readonly tokenURL: string
  readonly userInfoURL: string
  readonly displayName: string
  readonly pkce: boolean | null
  readonly extra: Readonly<Record<string, unknown>> | null
}

export interface AuthDefinition extends DefinitionBase {
  readonly type: 'auth'
  /** What an account has to meet to log in. */
  readonly authRule: Rule
  /** Those that it admits may do to an account what else only itself may. */
  readonly manageRule: Rule
  readonly authAlert: { readonly enabled: boolean; readonly emailTemplate: MailTemplate }
  readonly oauth2: {
    readonly enabled: boolean
    readonly mappedFields: Readonly<Record<'id' | 'name' | 'username' | 'avatarURL', string>>
    readonly providers: readonly ProviderOptions[]
  }
  readonly passwordAuth: { readonly enabled: boolean; readonly identityFields: readonly string[] }
  readonly mfa: { readonly enabled: boolean; readonly duration: number; readonly rule: string }
  readonly otp: {
    readonly enabled: boolean
    readonly duration: number
    readonly length: number
    readonly emailTemplate: MailTemplate
  }
  /** Left out where it was never turned on. */
  readonly passkey?: { readonly enabled: boolean }
  readonly authToken: TokenOptions
  readonly passwordResetToken: TokenOptions
  readonly emailChangeToken: TokenOptions
  readonly verificationToken: TokenOptions
  readonly fileToken: TokenOptions
  readonly verificationTemplate: MailTemplate
  readonly resetPasswordTemplate: MailTemplate
  readonly confirmEmailChangeTemplate: MailTemplate
}

/** A collection of the application: its type, fields, rules and indexes. */
export type Definition = BaseDefinition | ViewDefinition | AuthDefinition

/** How the names of these begin in the library. */
export const RECORDS_PREFIX = '$records_'

/** The collection of the library that has the records: it keeps its name when the collection is renamed. */
export function recordsName({ id }: Pick<Definition, 'id'>): string {
  return RECORDS_PREFIX + id
}
