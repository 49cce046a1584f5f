/** Who acts. Every door of the server makes one: HTTP requests, replications that the server runs, the server itself. */

export interface Principal {
  /** Null: a guest, who has not logged in. */
  readonly name: string | null
  /** The roles of the user. */
  readonly roles: readonly string[]
  /** Of the whole server: no rule stops an admin. */
  readonly isAdmin: boolean
  /** What shows who it is. `delegation`: the server acts with the rights of a user who is not there. */
  readonly by: 'nothing' | 'session' | 'password' | 'delegation'
  /** From where; undefined for what the server does by itself. */
  readonly address?: string
}

export const GUEST: Principal = { name: null, roles: [], isAdmin: false, by: 'nothing' }
