/** Accounts of the application: records of auth collections, who log in with passwords and are known by tokens. */
import type { DatabaseChange } from 'pannier'
import { andThen, type MaybePromise } from 'pannier/internal'
import { DEFINITIONS_COLLECTION } from '../definitions/store.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { Actor } from '../access/actor.ts'
import { outside } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Account, Principal } from '../gateway/principal.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { authMethods } from './auth-methods.ts'
import { askedAccount, type AskedBy } from './asked-account.ts'
import { isApiToken, refuseApiToken, type ApiTokenInfo } from './api-tokens.ts'
import { EmailChange } from './email-change.ts'
import { FirstSuperuser } from './first-superuser.ts'
import { loggedIn, Logins } from './logins.ts'
import type { HalfLoggedIn, LoggedIn } from './logins.ts'
import { OneTimePasswords, type NewOneTimePassword } from './one-time-passwords.ts'
import { Passkeys, type PasskeyInfo } from './passkeys.ts'
import type { LoginLimiter } from './login-limiter.ts'
import { PasswordLogin } from './password-login.ts'
import { PasswordReset } from './password-reset.ts'
import type { Passwords } from './passwords.ts'
import { isRecordId } from './forms.ts'
import { sessionIdFor, type SessionInfo } from './sessions.ts'
import { sendTestMail } from './test-mail.ts'
import { accountsIn } from './token-principals.ts'
import { accountName, claimsIn } from './tokens.ts'
import type { Holder } from './tokens.ts'
import { Verification } from './verification.ts'

export class RecordAccounts {
  /** The verification of e-mail addresses. */
  readonly verification: Verification
  /** Passwords that were forgotten. */
  readonly passwordReset: PasswordReset
  /** The change of an e-mail address into another. */
  readonly emailChange: EmailChange
  /** How a new server gets a superuser. */
  readonly firstSuperuser: FirstSuperuser
  /** Logins by keys of devices. */
  readonly passkeys: Passkeys
  /** Logins by passwords that come by mail. */
  readonly oneTimePasswords: OneTimePasswords
  /** The passwords of all doors, whose hashes it makes and checks. */
  readonly passwords: Passwords
  /** The limiter of failed logins at all doors. */
  readonly limiter: LoginLimiter
  readonly #host: AccountsHost
  readonly #passwordLogin: PasswordLogin
  readonly #logins: Logins

  constructor(host: AccountsHost) {
    this.#host = host
    this.passwords = host.passwords
    this.limiter = host.limiter
    this.verification = new Verification(host)
    this.passwordReset = new PasswordReset(host)
    this.oneTimePasswords = new OneTimePasswords(host)
    this.emailChange = new EmailChange(host)
    this.passkeys = new Passkeys(host)
    this.firstSuperuser = new FirstSuperuser(host)
    this.#passwordLogin = new PasswordLogin(host)
    this.#logins = new Logins(host)
  }

  /** The principal to whom the token belongs. Undefined for a text that is no valid token: then somebody is a guest. */
  async principalOf(token: string): Promise<Principal | undefined> {
    return this.#host.principals.find('auth', token)
  }

  /** As `principalOf`, for doors that API tokens and the secret of the first superuser open too. */
  bearerOf(token: string): MaybePromise<Principal | undefined> {
    const found = this.#host.principals.find(isApiToken(token) ? 'api' : 'auth', token)
    return andThen(found, (principal) => principal ?? this.firstSuperuser.principalOf(token))
  }

  /** Which account a request is about, before it has proven anything. @throws ServiceError NOT_FOUND */
  async askedAccount(collection: string, by: AskedBy, form: JsonObject): Promise<JsonObject | undefined> {
    const parts = { host: this.#host, passwordLogin: this.#passwordLogin, oneTimePasswords: this.oneTimePasswords }
    return askedAccount(parts, this.authDefinition(collection), by, form)
  }

  /**
   * Logs in with an identity and a password.
   *
   * @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS
   */
  async authWithPassword(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn> {
    const definition = this.#openTo(actor, collection)
    const within: Actor = { ...actor, request: { ...actor.request, context: 'password' } }
    const record = await this.#passwordLogin.verify(within, definition, input)
    return this.#logins.finish(within, { definition, record }, 'password', input)
  }

  /**
   * Logs in with a one-time password.
   *
   * @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS
   */
  async authWithOtp(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn> {
    const definition = this.#openTo(actor, collection)
    const within: Actor = { ...actor, request: { ...actor.request, context: 'otp' } }
    return this.#logins.finish(within, await this.oneTimePasswords.verify(within, definition, input), 'otp', input)
  }

  /** Logs in with a passkey. @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID */
  async authWithPasskey(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn> {
    const definition = this.#openTo(actor, collection)
    const within: Actor = { ...actor, request: { ...actor.request, context: 'passkey' } }
    return this.#logins.finish(within, await this.passkeys.verify(definition, input), 'passkey', input)
  }

  /** The options with which the actor's browser makes a passkey. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
  async passkeyOptions(actor: Actor, collection: string, id: string): ReturnType<Passkeys['registrationOptions']> {
    const holder = this.itself(actor, collection, id)
    return this.passkeys.registrationOptions(holder, await this.#host.sessions.loginAgeMsOf(actor.principal))
  }

  /** Stores a passkey of the actor. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID with data */
  async addPasskey(actor: Actor, collection: string, id: string, input: JsonObject): Promise<PasskeyInfo> {
    const holder = this.itself(actor, collection, id)
    return this.passkeys.register(holder, input, await this.#host.sessions.loginAgeMsOf(actor.principal))
  }

  /** A one-time password of a superuser, for the operator to hand over. @throws ServiceError NOT_FOUND, FORBIDDEN */
  async superuserOtp(email: string): Promise<NewOneTimePassword> {
    const record = await this.superuser(email)
    if (record === undefined) throw missing(`There is no superuser ${email}.`)
    return this.oneTimePasswords.make({ definition: this.authDefinition(SUPERUSERS), record })
  }

  /** A mail to try the SMTP server with. @throws ServiceError FORBIDDEN, INVALID with data */
  sendTestMail({ principal }: Actor, input: JsonObject): Promise<void> {
    return sendTestMail(this.#host, principal, input)
  }

  /** Deletes logins by one of two methods that have expired, and sessions that have ended. */
  async deleteExpired(): Promise<void> {
    await this.#logins.deleteExpired()
    await this.#host.sessions.deleteEnded()
  }

  /** The sessions of an account, for itself and for superusers. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
  async sessions(actor: Actor, collection: string, id: string): Promise<readonly SessionInfo[]> {
    return this.#host.sessions.list(await this.ownAccount(actor, collection, id), actor.principal.session)
  }

  /** Ends a session: its tokens are refused from now on. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
  async endSession(actor: Actor, collection: string, id: string, session: string): Promise<void> {
    const account = await this.ownAccount(actor, collection, id)
    if (!isRecordId(session) || !(await this.#host.sessions.end(account, session))) throw missing('')
    await this.#host.sessionEnded(account)
  }

  /** Ends all but that of the actor. Tokens without a session end too. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
  async endOtherSessions(actor: Actor, collection: string, id: string): Promise<void> {
    const account = await this.ownAccount(actor, collection, id)
    await this.#host.sessions.endOthers(account, actor.principal.session)
    await this.#host.sessionEnded(account)
  }

  /** Makes an API token. The answer alone has it whole. @throws ServiceError FORBIDDEN, INVALID with data */
  createApiToken({ principal }: Actor, input: JsonObject): Promise<ApiTokenInfo & { readonly token: string }> {
    return this.#host.apiTokens.create(principal, input)
  }

  /** The API tokens, the newest one first. @throws ServiceError FORBIDDEN */
  apiTokens({ principal }: Actor): Promise<readonly ApiTokenInfo[]> {
    return this.#host.apiTokens.list(principal)
  }

  /** An API token that is deleted is refused from now on. @throws ServiceError FORBIDDEN, NOT_FOUND */
  async deleteApiToken({ principal }: Actor, id: string): Promise<void> {
    const holder = await this.#host.apiTokens.delete(principal, id)
    if (holder !== undefined) await this.#host.sessionEnded({ collection: holder.definition.id, record: holder.record })
  }

  /** The account of the actor, by its id. @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND */
  itself(actor: Actor, collection: string, id: string): Holder {
    const holder = this.accountOf(actor, collection)
    if (holder.record['_id'] !== id) throw missing('')
    return holder
  }

  /**
   * An account of the collection: the one of the actor, or any for a superuser.
   *
   * @throws ServiceError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND
   */
  async ownAccount(actor: Actor, collection: string, id: string): Promise<Account> {
    const definition = this.authDefinition(collection)
    if (!actor.principal.isAdmin) this.itself(actor, collection, id)
    const record = await this.#host.definitions.records(definition).get(id)
    if (record === undefined) throw missing('')
    return { collection: definition.id, record }
  }

  /** Exchanges the token of the actor for one of its session that is valid for longer. @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
  async authRefresh(actor: Actor, collection: string, token: string, input: JsonObject = {}): Promise<LoggedIn> {
    const holder = this.accountOf(actor, collection)
    await this.#logins.check(actor, holder, input)
    const { session } = actor.principal
    return this.#logins.hooked(actor, holder, '', async () =>
      claimsIn(token)?.refreshable === true
        ? this.#logins.extend(actor, holder, session ?? sessionIdFor(token))
        : loggedIn(holder, token, session),
    )
  }

  /**
   * A token of a record for an admin. It is valid for `duration` seconds, 0: as long as others, and gets no longer.
   *
   * @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID with data
   */
  async impersonate(actor: Actor, collection: string, id: string, duration: unknown = 0): Promise<LoggedIn> {
    if (!actor.principal.isAdmin) throw forbidden('')
    const definition = this.authDefinition(collection)
    const record = await this.#host.definitions.records(definition).get(id)
    if (record === undefined) throw missing('')
    if (typeof duration !== 'number' || !Number.isSafeInteger(duration))
      throw invalid('An error occurred while loading the submitted data.')
    const wrong = outside(duration, 0, Infinity)
    if (wrong !== undefined) {
      const data = { duration: wrong }
      throw new ServiceError('INVALID', 'An error occurred while validating the submitted data.', { data })
    }
    await this.#logins.check(actor, { definition, record }, {})
    return this.#logins.begin(actor, { definition, record }, { method: 'impersonate', duration, refreshable: false })
  }

  /** How records of a collection can log in. @throws ServiceError NOT_FOUND */
  authMethods(collection: string): JsonObject {
    return authMethods(this.authDefinition(collection), this.#host.environment)
  }

  /** @throws ServiceError NOT_FOUND */
  authDefinition(collection: string): AuthDefinition {
    const definition = this.#host.definitions.find(collection)
    if (definition === undefined) throw missing('Missing or invalid collection context.')
    if (definition.type !== 'auth') throw missing('Missing or invalid auth collection context.')
    return definition
  }

  /** The collection, before anything is compared: an answer shows no superuser's secret where they may not act from. @throws ServiceError NOT_FOUND, FORBIDDEN */
  #openTo({ principal }: Actor, collection: string): AuthDefinition {
    const definition = this.authDefinition(collection)
    this.#logins.checkAddress(definition, principal.address)
    return definition
  }

  /** The superuser with this e-mail address. */
  async superuser(email: string): Promise<JsonObject | undefined> {
    const definition = this.#host.definitions.find(SUPERUSERS)
    if (definition === undefined || email === '') return undefined
    return await this.#host.definitions.records(definition).find({ email }).first()
  }

  /** The account of the actor, which has to be of this collection. @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
  accountOf({ principal }: Actor, collection: string): Holder {
    const { account } = principal
    refuseApiToken(principal)
    if (account === undefined)
      throw new ServiceError('UNAUTHENTICATED', 'The request requires valid record authorization token.')
    const { definitions } = this.#host
    const definition = definitions.find(account.collection) as AuthDefinition
    if (definitions.find(collection)?.id !== definition.id)
      throw forbidden(`The request requires auth record from ${definition.name} collection.`)
    return { definition, record: account.record }
  }

  /** The names of principals that a change concerns; 'all' if anybody may be. */
  changedNames({ collections }: DatabaseChange): 'all' | readonly string[] {
    if (collections.has(DEFINITIONS_COLLECTION)) return 'all'
    const changed = accountsIn(collections)
    if (changed === 'all') return 'all'
    const names: string[] = []
    for (const [collection, ids] of changed) {
      const definition = this.#host.definitions.find(collection)
      if (definition?.type !== 'auth') continue
      if (ids === undefined || definition.name === SUPERUSERS) return 'all'
      names.push(...ids.map((id) => accountName(definition, id)))
    }
    return names
  }
}
