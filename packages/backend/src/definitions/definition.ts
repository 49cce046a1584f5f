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
  /** When it was created: `2026-11-22 15:04:49.813Z` */
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
  /** The duration in seconds. */
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

/** A collection of accounts, and how they log in. */
export interface AuthDefinition extends DefinitionBase {
  /** Tells it from base and view collections. */
  readonly type: 'auth'
  /** The condition for an account to log in. */
  readonly authRule: Rule
  /** The condition for other accounts to do to an account what else only itself may do. */
  readonly manageRule: Rule
  /** The mail about a login from a new place. */
  readonly authAlert: { readonly enabled: boolean; readonly emailTemplate: MailTemplate }
  /** Logins by OAuth2 and OpenID Connect: the providers, and which fields take what they tell. */
  readonly oauth2: {
    readonly enabled: boolean
    readonly mappedFields: Readonly<Record<'id' | 'name' | 'username' | 'avatarURL', string>>
    readonly providers: readonly ProviderOptions[]
  }
  /** Logins by password. An identity field names the account. */
  readonly passwordAuth: { readonly enabled: boolean; readonly identityFields: readonly string[] }
  /** A second method for accounts that meet `rule`. `duration` in seconds is the time for it. */
  readonly mfa: { readonly enabled: boolean; readonly duration: number; readonly rule: string }
  /** Logins by one-time password (`otp`). `duration` is in seconds, `length` in digits. */
  readonly otp: {
    readonly enabled: boolean
    readonly duration: number
    readonly length: number
    readonly emailTemplate: MailTemplate
  }
  /** The passkey option; left out where it was never turned on. */
  readonly passkey?: { readonly enabled: boolean }
  /** The secret and the life of a session's token. */
  readonly authToken: TokenOptions
  /** Options of links that reset a password. */
  readonly passwordResetToken: TokenOptions
  /** Options of links that change an address. */
  readonly emailChangeToken: TokenOptions
  /** Options of links that verify an address. */
  readonly verificationToken: TokenOptions
  /** Options of tokens for protected files. */
  readonly fileToken: TokenOptions
  /** The mail with the link that verifies an address. */
  readonly verificationTemplate: MailTemplate
  /** The mail with the link that resets a password. */
  readonly resetPasswordTemplate: MailTemplate
  /** The mail with the link that changes an address. */
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

/** The name of the collection whose records are in a collection of the library; undefined: it has none. */
export function nameOfRecords(
  definitions: { find(id: string): Definition | undefined },
  collection: string,
): string | undefined {
  if (!collection.startsWith(RECORDS_PREFIX)) return undefined
  return definitions.find(collection.slice(RECORDS_PREFIX.length))?.name
}
