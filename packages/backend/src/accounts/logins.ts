/** The result of a login, by any method: whether the record may log in, a second method, and the token. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, ServiceError } from '../gateway/service-error.ts'
import { HookRecord } from '../hooks/hook-record.ts'
import { requestEvent } from '../hooks/request-event.ts'
import type { AccountsHost } from './accounts-host.ts'
import { LoginAlerts } from './login-alerts.ts'
import { SecondFactors } from './second-factors.ts'
import type { SessionMethod } from './sessions.ts'
import { newToken, principalOf, tokenSeconds } from './tokens.ts'
import type { Holder } from './tokens.ts'

/** Somebody who has logged in. */
export interface LoggedIn {
  /** The auth collection of the record. */
  readonly definition: AuthDefinition
  /** The principal, whose account has the record. */
  readonly principal: Principal
  /** A token of the record, for later requests. */
  readonly token: string
  /** Data of another service about its user. */
  readonly meta?: JsonObject
}

/** A login by one method, where two are needed: half of what logs in. */
export interface HalfLoggedIn {
  /** The id for the login by the other method. */
  readonly mfaId: string
}

/** How a record has shown who it is. */
type LoginMethod = 'password' | 'otp' | 'oauth2' | 'passkey'

interface TokenChoice {
  readonly method: SessionMethod
  /** The id of the new session; a random one when left out. */
  readonly session?: string
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
    await this.check(actor, holder, input)
    const { definition, record } = holder
    return this.hooked(actor, holder, method, async () => {
      const begun = begunLogin(actor, input)
      const mfaId = await this.#secondFactors.need(asking(actor, input), definition, record, method, begun)
      if (mfaId !== undefined) return { mfaId }
      await this.#alerts.loggedIn(actor, holder)
      return this.begin(actor, holder, { method })
    })
  }

  /** Runs hooks around the making of a token. `authMethod` '': no login, as the account has a token. @throws ServiceError FORBIDDEN */
  async hooked<Login extends LoggedIn | HalfLoggedIn>(
    actor: Actor,
    { definition, record }: Holder,
    authMethod: LoginMethod | '',
    logIn: () => Promise<Login>,
  ): Promise<Login> {
    const { hooks, environment } = this.#host
    const seen = HookRecord.of(definition, record, environment)
    const event = { ...requestEvent(this.#host, actor), collection: definition, record: seen, authMethod }
    let login: Login | undefined
    await hooks.trigger('onRecordAuthRequest', event, [definition.id, definition.name], async () => {
      login = await logIn()
      if ('token' in login) Object.assign(event, { token: login.token })
    })
    if (login === undefined) throw forbidden('')
    // A hook may have saved the account.
    const saved = seen.document!
    if ('mfaId' in login || saved === record) return login
    const { principal } = login
    return { ...login, principal: { ...principal, account: { ...principal.account!, record: saved } } }
  }

  /** Whether the record may log in at all. `input`: the body of the request. @throws ServiceError FORBIDDEN */
  async check(actor: Actor, { definition, record }: Holder, input: JsonObject): Promise<void> {
    const { admits } = this.#host
    this.checkAddress(definition, actor.principal.address)
    if (definition.authRule === '' || (await admits(asking(actor, input), definition, definition.authRule, record)))
      return
    throw forbidden("The request doesn't satisfy the collection requirements to authenticate.")
  }

  /** @throws ServiceError FORBIDDEN for superusers where they may not act from */
  checkAddress({ name }: AuthDefinition, address: string | undefined): void {
    if (name === SUPERUSERS && !this.#host.settings.allowsSuperuserAt(address)) throw forbidden('')
  }

  /** Deletes what was begun by one of two methods, and has expired. */
  deleteExpired(): Promise<void> {
    return this.#secondFactors.deleteExpired()
  }

  /** Begins a session, with its first token. */
  async begin(actor: Actor, holder: Holder, { method, session: given, ...choice }: TokenChoice): Promise<LoggedIn> {
    const { duration = 0, refreshable = true } = choice
    const seconds = duration || tokenSeconds(holder.definition, 'auth')
    const account = principalOf(holder).account!
    const session = await this.#host.sessions.begin(actor, account, { id: given, method, duration: seconds })
    return this.#withToken(holder, session, { duration: seconds, refreshable })
  }

  /** Another token of a session. One that is not stored is stored then. @throws ServiceError UNAUTHENTICATED if it has ended meanwhile */
  async extend(actor: Actor, holder: Holder, session: string): Promise<LoggedIn> {
    const duration = tokenSeconds(holder.definition, 'auth')
    const state = await this.#host.sessions.extend(principalOf(holder).account!, session, duration)
    if (state === 'ended') throw new ServiceError('UNAUTHENTICATED', 'The session has ended.')
    if (state === 'unknown') return this.begin(actor, holder, { method: 'refresh', session })
    return this.#withToken(holder, session, { duration, refreshable: true })
  }

  async #withToken(
    holder: Holder,
    session: string,
    claims: { readonly duration: number; readonly refreshable: boolean },
  ): Promise<LoggedIn> {
    const token = newToken('auth', holder, { nowMs: this.#host.environment.wallClock(), sid: session, ...claims })
    return loggedIn(holder, token, session)
  }
}

/** Rules about logins read what the request has sent, as rules about records do. */
function asking(actor: Actor, body: JsonObject): Actor {
  return { ...actor, request: { ...actor.request, body } }
}

/** The id of the login by another method, if there was one. */
function begunLogin({ request }: Actor, { mfaId = '' }: JsonObject): string {
  return request.query['mfaId'] || (typeof mfaId === 'string' ? mfaId : '')
}

export function loggedIn(holder: Holder, token: string, session: string | undefined): LoggedIn {
  return { definition: holder.definition, principal: principalOf(holder, session), token }
}
