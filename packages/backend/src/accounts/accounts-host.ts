/** The parts of the backend that accounts need. */
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { LogWriter } from '../gateway/log-entry.ts'
import type { Account } from '../gateway/principal.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Mails } from '../mails/mails.ts'
import type { Settings } from '../settings/settings.ts'
import type { ApiTokens } from './api-tokens.ts'
import type { LoginLimiter } from './login-limiter.ts'
import type { Passwords } from './passwords.ts'
import type { Sessions } from './sessions.ts'
import type { TokenPrincipals } from './token-principals.ts'

export interface AccountsHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly fleet: Fleet
  readonly settings: Settings
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly principals: TokenPrincipals
  readonly apiTokens: ApiTokens
  readonly mails: Mails
  readonly logs: LogWriter
  readonly hooks: Hooks
  readonly app: HookApp
  readonly limiter: LoginLimiter
  /** Whether a rule about logins admits a record, for the actor. */
  readonly admits: (
    actor: Actor,
    definition: AuthDefinition,
    rule: string | null,
    record: JsonObject,
  ) => Promise<boolean>
  /**
   * Changes a record as the server itself does, unless somebody has changed it since it was read. Resolves with the new one.
   *
   * @throws ServiceError CONFLICT, INVALID with data, NOT_FOUND
   */
  readonly write: (definition: AuthDefinition, record: JsonObject, input: JsonObject) => Promise<JsonObject>
  /** A session or an API token of the account has ended: streams of it are those of a guest when this resolves. */
  readonly sessionEnded: (account: Account) => Promise<void>
  readonly environment: Environment
}
