/** What a login comes to, whatever its method is: whether the record may log in, a second method, and the token. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden } from '../gateway/service-error.ts'
import { HookRecord } from '../hooks/hook-record.ts'
import { requestEvent } from '../hooks/request-event.ts'
import type { AccountsHost } from './accounts-host.ts'
import { LoginAlerts } from './login-alerts.ts'
import { SecondFactors } from './second-factors.ts'
import { newToken } from './tokens.ts'
import type { Holder } from './tokens.ts'

/** Somebody who has logged in. */
export interface LoggedIn {
  /** The auth collection of the record. */
  readonly definition: AuthDefinition
  /** Its account has the record. */
  readonly principal: Principal
  /** A token of the record, for later requests. */
  readonly token: string
  /** What another service says about its user. */
  readonly meta?: JsonObject
}

/** A login by one method, where two are needed. */
export interface HalfLoggedIn {
  /** What the login by the other method brings. */
  readonly mfaId: string
}

/** How a record has shown who it is. */
type LoginMethod = 'password' | 'otp' | 'oauth2'

interface TokenChoice {
  /** Seconds; 0: as long as the definition says. */
  readonly duration?: number
  readonly refreshable?: boolean
}

export class Logins {
  readonly #host: AccountsHost
  readonly #secondFactors: SecondFactors
  readonly #alerts: LoginAlerts

  constructor(host: AccountsHost) {
    this.#host = host
    this.#secondFactors = new SecondFactors(host)
    this.#alerts = new LoginAlerts(host)
  }

  /**
   * Logs in a record that has shown who it is. `input`: of the request, which may name the login by the other method.
   *
   * @throws ServiceError FORBIDDEN, INVALID
   */
  async finish(actor: Actor, holder: Holder, method: LoginMethod, input: JsonObject): Promise<LoggedIn | HalfLoggedIn> {
    const { definition, record } = holder
    await this.check(actor, holder)
    const { hooks, app, definitions } = this.#host
    const about = requestEvent(app, definitions, actor)
    const event = { ...about, collection: definition, record: HookRecord.of(definition, record), authMethod: method }
    let login: LoggedIn | HalfLoggedIn | undefined
    await hooks.trigger('onRecordAuthRequest', event, [definition.id, definition.name], async () => {
      const mfaId = await this.#secondFactors.need(actor, definition, record, method, begunLogin(actor, input))
      if (mfaId === undefined) await this.#alerts.loggedIn(actor, holder)
      login = mfaId === undefined ? await this.withToken(holder) : { mfaId }
    })
    if (login === undefined) throw forbidden('')
    return login
  }

  /** Whether the record may log in at all. @throws ServiceError FORBIDDEN */
  async check(actor: Actor, { definition, record }: Holder): Promise<void> {
    const { settings, admits } = this.#host
    if (definition.name === SUPERUSERS && !settings.allowsSuperuserAt(actor.principal.address)) throw forbidden('')
    if (definition.authRule === '' || (await admits(actor, definition, definition.authRule, record))) return
    throw forbidden("The request doesn't satisfy the collection requirements to authenticate.")
  }

  /** Deletes what was begun by one of two methods, and has expired. */
  deleteExpired(): Promise<void> {
    return this.#secondFactors.deleteExpired()
  }

  async withToken(holder: Holder, { duration = 0, refreshable = true }: TokenChoice = {}): Promise<LoggedIn> {
    const nowMs = this.#host.now()
    return loggedIn(holder, await newToken('auth', holder, { nowMs, duration, refreshable }))
  }
}

/** The id of the login by another method, if there was one. */
function begunLogin({ request }: Actor, { mfaId = '' }: JsonObject): string {
  return request.query['mfaId'] || (typeof mfaId === 'string' ? mfaId : '')
}

export function loggedIn(holder: Holder, token: string): LoggedIn {
  return { definition: holder.definition, principal: principalOf(holder), token }
}

/** The principal of a record that has shown its token. */
export function principalOf({ definition, record }: Holder): Principal {
  const isAdmin = definition.name === SUPERUSERS
  return {
    name: isAdmin ? String(record['email']) : accountName(definition, String(record['_id'])),
    roles: isAdmin ? ['_admin'] : [],
    isAdmin,
    by: 'token',
    account: { collection: definition.id, record },
  }
}

/** No user of CouchDB's door can have a name with a colon. */
export function accountName({ name }: AuthDefinition, id: string): string {
  return `${name}:${id}`
}
