/** The parts of the server that authentication needs. */
import type { Collection, Database, DatabaseChange } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Backend, Principal, ServiceError } from '@pannier/backend'
import type { JsonObject, Passwords, ServerState } from '@pannier/backend/internal'

/** The result of an account's login. */
interface AppLogin {
  /** The identity of the login. The token, not this, has the name and the id of the session. */
  readonly principal: Principal
  readonly token: string
  /** How long the token is valid. */
  readonly seconds: number
  /** Whether such a password is taken in the same way still: by the same settings of the collection. */
  readonly isCurrent: () => boolean
}

/** The record of an account, as documents of other collections name it. */
export interface AccountReference {
  /** The name of the collection. */
  readonly collection: string
  /** The id of the definition. */
  readonly collectionRef: string
  /** The id of the record. */
  readonly recordRef: string
}

/** The collections whose accounts log in at both doors. Superusers are server admins. */
export type AppCollection = '_superusers' | 'users'

/** Accounts of the application. */
export interface AppAccounts {
  /** Whether a superuser has this e-mail address. */
  isSuperuser(email: string): Promise<boolean>
  /** Whether accounts of the collection log in here, from this address, with passwords. */
  takesPasswords(collection: AppCollection, address: string): boolean
  /** Whether an account of the collection logs in with this identity. */
  isIdentity(collection: AppCollection, identity: string): Promise<boolean>
  /** Logs in as REST does: with its rules, limits, hooks and sessions. @throws ServiceError UNAUTHENTICATED, TOO_MANY_REQUESTS, UNAVAILABLE */
  logIn(
    collection: AppCollection,
    identity: string,
    password: string,
    from: { readonly ip: string; readonly userAgent: string },
  ): Promise<AppLogin>
  /** Ends the session that the token of the principal is of. */
  endSession(principal: Principal): Promise<void>
  /** The principal to whom a token belongs. */
  principalOf(token: string): Promise<Principal | undefined>
  /** The account that has this name at CouchDB's door, if there is one. Undefined for a name that none can have, or that is too long. */
  accountNamed(name: string): AccountReference | undefined
  /** Why no document is written for the account, as the transaction that would write it sees: it is not there. */
  missing(account: AccountReference, reader: GuardReader): ServiceError | undefined
  /** The names of principals that a change concerns; 'all' if anybody may be. */
  changedNames(change: DatabaseChange): 'all' | readonly string[]
  /** Whether a superuser may act from there. */
  allowsSuperuserAt(address: string | undefined): boolean
}

export interface AuthHost {
  readonly environment: Environment
  readonly database: Database
  readonly state: ServerState
  /** All doors of the server share the queue of hashes, and the counters of failed logins. */
  readonly passwords: Passwords
  readonly limiter: Backend['accounts']['limiter']
  readonly accounts?: AppAccounts
  /** Collections of the application, whose rules say who may open them. */
  readonly app?: Pick<Backend['collections'], 'find' | 'isOpenTo' | 'subscribeRules'>
  /** The collection of the `_users` database. */
  readonly users: Collection<JsonObject>
  /** `_security` of a database as it was put; undefined if it never was. @throws ServiceError NOT_FOUND if there is no such database */
  security(database: string): Promise<JsonObject | undefined>
}
