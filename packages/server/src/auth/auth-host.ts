/** The parts of the server that authentication needs. */
import type { Collection, Database, DatabaseChange } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Backend, Principal, ServiceError } from '@pannier/backend'
import type { LoginLimiter } from './login-limiter.ts'
import type { JsonObject, Passwords, StateStore } from '@pannier/backend/internal'

/** The result of an account's login. */
interface AppLogin {
  /** The identity of the login. The token, not this, has the name and the id of the session. */
  readonly principal: Principal
  readonly token: string
  /** How long the token is valid. */
  readonly seconds: number
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

/** Accounts of the application. Its superusers are server admins. */
export interface AppAccounts {
  /** The record of the superuser with this e-mail address, if a password is enough to log in. */
  superuser(email: string): Promise<JsonObject | undefined>
  /** Whether accounts log in here with passwords. Else no name of theirs is looked for. */
  takesPasswords(): boolean
  /** Logs in as REST does: with its rules, limits, hooks and sessions. @throws ServiceError UNAUTHENTICATED, TOO_MANY_REQUESTS, UNAVAILABLE */
  logIn(
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
  readonly state: StateStore
  /** All doors of the server share their queue. */
  readonly passwords: Passwords
  /** So do they the counters of failed logins. */
  readonly limiter: LoginLimiter
  readonly accounts?: AppAccounts
  /** Collections of the application, whose rules say who may open them. */
  readonly app?: Pick<Backend['collections'], 'find' | 'isOpenTo' | 'subscribeRules'>
  /** The collection of the `_users` database. */
  readonly users: Collection<JsonObject>
  /** `_security` of a database as it was put; undefined if it never was. @throws ServiceError NOT_FOUND if there is no such database */
  security(database: string): Promise<JsonObject | undefined>
}
