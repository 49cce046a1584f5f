/** What accounts need from the backend around them. */
import type { Database } from 'pannier'
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Settings } from '../settings/settings.ts'
import type { Passwords } from './passwords.ts'

/** Call the result when the login has succeeded. @throws ServiceError TOO_MANY_REQUESTS */
export type LoginAttempt = (address: string, name: string) => () => void

export interface AccountsHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly settings: Settings
  readonly passwords: Passwords
  /** Counts failed logins. */
  readonly attempt: LoginAttempt
  /** Whether a rule about logins admits a record, for the actor. */
  readonly admits: (
    actor: Actor,
    definition: AuthDefinition,
    rule: string | null,
    record: JsonObject,
  ) => Promise<boolean>
  /** Milliseconds since 1970. */
  readonly now: () => number
}
