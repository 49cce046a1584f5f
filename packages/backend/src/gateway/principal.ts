/**
 * The principal: the person or program that makes a request. Every entry makes one: HTTP requests, replications that
 * the server runs, the server itself.
 */

/** A principal: somebody who acts. */
export interface Principal {
  /** Null: a guest, who has not logged in. */
  readonly name: string | null
  /** The roles of the user. */
  readonly roles: readonly string[]
  /** An admin of the whole server: no rule stops an admin. */
  readonly isAdmin: boolean
  /**
   * The proof of the identity. `delegation`: the server acts with the rights of a user who is not there. `setup`: a guest who may make
   * the first superuser.
   */
  readonly by: 'nothing' | 'session' | 'password' | 'token' | 'delegation' | 'setup' | 'system'
  /** The record that has logged in, of an auth collection of the application, or that an API token acts as. */
  readonly account?: Account
  /** The API token to whose scopes the account is narrowed. */
  readonly apiToken?: ApiTokenOf
  /** The id of the session that its token is of. */
  readonly session?: string
  /** The address from where; undefined for what the server does by itself. */
  readonly address?: string
}

/** The system: the program around the server. */
export const SYSTEM: Principal = { name: null, roles: [], isAdmin: true, by: 'system' }

/** A guest: somebody who has not logged in. */
export const GUEST: Principal = { name: null, roles: [], isAdmin: false, by: 'nothing' }

/** An API token that somebody acts by. */
interface ApiTokenOf {
  readonly id: string
  readonly name: string
  /** Actions by the id of the definition. */
  readonly scopes: Scopes
}

/** Which actions are allowed, by the id of the definition. */
export type Scopes = ReadonlyMap<string, ReadonlySet<ScopedAction>>

/** The actions on records of a collection that an API token may allow. */
export type ScopedAction = 'list' | 'view' | 'create' | 'update' | 'delete'

/** A record of an auth collection. */
export interface Account {
  /** The id of the collection's definition. */
  readonly collection: string
  /** The record as it is stored, with its hidden fields. */
  readonly record: Readonly<Record<string, unknown>>
}

/** The account that has logged in. One that an API token acts as has not. */
export function loggedInAccount({ account, apiToken }: Principal): Account | undefined {
  return apiToken === undefined ? account : undefined
}
