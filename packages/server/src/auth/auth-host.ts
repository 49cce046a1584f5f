/** What authentication needs from the server around it. */
import type { Collection, Database } from 'pannier'
import type { LoginLimiter } from './login-limiter.ts'
import type { JsonObject, Passwords, StateStore } from '@pannier/backend/internal'

export interface AuthHost {
  readonly database: Database
  readonly state: StateStore
  /** All doors of the server share their queue. */
  readonly passwords: Passwords
  /** So do they the counters of failed logins. */
  readonly limiter: LoginLimiter
  /** The collection of the `_users` database. */
  readonly users: Collection<JsonObject>
  /** `_security` of a database as it was put; undefined if it never was. @throws ServiceError NOT_FOUND if there is no such database */
  security(database: string): Promise<JsonObject | undefined>
}
