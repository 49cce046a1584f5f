/** The parts of the backend that logins by other services need. */
import type { Actor } from '../../access/actor.ts'
import type { AuthDefinition } from '../../definitions/definition.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { LogWriter } from '../../gateway/log-entry.ts'
import type { AccountsHost } from '../accounts-host.ts'

/** Somebody whom a provider knows, who logs in to a collection. */
export interface ExternalLogin {
  /** The account of its principal, if it has one, is linked. */
  readonly actor: Actor
  readonly definition: AuthDefinition
  readonly provider: string
  /** The id of the user at the provider. */
  readonly providerId: string
  /** The e-mail address that the provider has verified; empty: unknown. */
  readonly email: string
  /** The values of the record, if a new one has to be made. */
  readonly signUpInput: () => Promise<JsonObject>
}

export interface ExternalAccount {
  /** As it is stored. */
  readonly record: JsonObject
  readonly isNew: boolean
}

export interface OAuth2Host extends AccountsHost {
  /** The logs that say why providers fail. */
  readonly logs: LogWriter
  /** The account that somebody would log in to; undefined: a new one would be made. */
  readonly find: (login: ExternalLogin) => Promise<JsonObject | undefined>
  /** The account of somebody, found, linked or made. @throws ServiceError */
  readonly enter: (login: ExternalLogin) => Promise<ExternalAccount>
  /** Sends a message to the client of realtime with this id, if it waits for one from this address. Says whether it does. */
  readonly deliver: (clientId: string, message: JsonObject, address: string | undefined) => Promise<boolean>
  /** A GET of a public address: all others are refused. Undefined: no pictures are fetched. */
  readonly fetchPublic: PublicFetch | undefined
}

export type PublicFetch = (url: string, signal: AbortSignal) => Promise<Response>
