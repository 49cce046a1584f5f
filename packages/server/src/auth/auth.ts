/** Authentication and permissions of one server: which principal sends a request, and what the principal may do. */
import type { FastifyRequest } from 'fastify'
import type { Needs } from '../http/declarations.ts'
import { GUEST, ServiceError } from '@pannier/backend'
import type { BackendOptions, Principal, WriteGuard } from '@pannier/backend'
import { ageMs, forbidden } from '@pannier/backend/internal'
import type { AccessRules, ReadScope } from '@pannier/backend/internal'
import { AccountWatch } from './account-watch.ts'
import { Accounts, ADMIN_ROLE, USER_PREFIX, type Account } from './accounts.ts'
import type { AppCollection, AuthHost } from './auth-host.ts'
import { BasicCache } from './basic-cache.ts'
import { EndedSessions } from './ended-sessions.ts'
import { principalOf, refusalOf, USERS_DATABASE, type Access } from './permissions.ts'
import { decodeToken, encodeToken, isGenuine, newSessionId, readCookie } from './session-cookie.ts'
import { usersGuard } from './users-guard.ts'

/** Options of logins (auth): how the server signs users in. */
export interface AuthOptions extends Pick<BackendOptions, 'loginLimits' | 'hashLimits'> {
  /** Sessions that are not used for so long end: 10 minutes when left out. */
  readonly sessionMsMax?: number
  /** 'Lax' when left out. 'None' is for pages of other sites, and needs TLS. */
  readonly sameSite?: 'Strict' | 'Lax' | 'None'
  /** Cookies for TLS only, where a proxy ends TLS. They are so anyway where the server does. */
  readonly secureCookies?: boolean
  /** Origins whose pages may change something: those that CORS allows. */
  readonly corsOrigins?: readonly string[]
  /** The characters that a new password must have at least. */
  readonly passwordCharsMin?: number
  /** True: anybody may make a user without roles, in CouchDB's way (docs/internals/http-api.md). False when left out. */
  readonly signUp?: boolean
}

/** The principal of a request, and how it was established. */
interface Identity {
  readonly principal: Principal
  /** The account, if the request is authenticated. */
  readonly account: Account | undefined
  /** Set if a session cookie was sent. */
  readonly sessionId: string | undefined
  readonly issuedMs: number | undefined
  /** Set for an account of the application: the token that was sent, or that its password has brought. */
  readonly token?: string
}

/** A login that can be remembered, and the value and time of its cookie. */
interface Login extends Identity {
  readonly name: string
  readonly keptMs: number
  readonly cookie: () => string
  readonly cookieSeconds: number
  /** For an account of the application: whether the password would be taken now as it was then. */
  readonly isCurrent?: () => boolean
}

/** For so long Basic credentials are not hashed again. Those of an account end with its token, and begin a session each time. */
const KEPT_MS = 60_000
const TOKEN_KEPT_MS = 60 * 60_000
const SESSION_MS_MAX: number = 10 * 60 * 1000
const CURRENT_PASSWORD =
  'A session alone changes no password: send the old one as current_password, or the request with Basic credentials.'

export class Auth implements AccessRules {
  readonly accounts: Accounts
  readonly options: AuthOptions
  readonly allowedOrigins: ReadonlySet<string>
  readonly sessionMsMax: number
  /** For the writes of documents. */
  readonly guard: WriteGuard
  readonly #host: AuthHost
  readonly #signingKey: Buffer
  readonly #ended: EndedSessions
  readonly #basic: BasicCache<Login>
  readonly #watch: AccountWatch
  readonly #identities = new WeakMap<FastifyRequest, Identity>()

  private constructor(host: AuthHost, options: AuthOptions, signingKey: Buffer, ended: EndedSessions) {
    const { sessionMsMax = SESSION_MS_MAX } = options
    this.#host = host
    this.#signingKey = signingKey
    this.#ended = ended
    this.#basic = new BasicCache(host.environment)
    this.#watch = new AccountWatch(host)
    this.options = options
    this.sessionMsMax = sessionMsMax
    this.allowedOrigins = new Set(options.corsOrigins)
    this.accounts = new Accounts(host, options.passwordCharsMin)
    this.guard = usersGuard({
      accounts: this.accounts,
      app: host.accounts,
      signUp: options.signUp === true,
      checkPassword: (principal, current) => this.#checkPassword(principal, current),
    })
  }

  /** `signingKey`: of session cookies (auth/signing-key.ts). It is never in the database. */
  static async open(host: AuthHost, signingKey: Buffer, options: AuthOptions = {}): Promise<Auth> {
    const ended = await EndedSessions.open(host)
    return new Auth(host, options, signingKey, ended)
  }

  /**
   * The sender of the request. Credentials of other schemes are ignored, as in CouchDB. @throws ServiceError
   * UNAUTHENTICATED for wrong Basic ones, TOO_MANY_REQUESTS
   */
  async identify(request: FastifyRequest): Promise<Identity> {
    const { authorization, cookie } = request.headers
    const credentials = authorization === undefined ? undefined : readBasic(authorization)
    const identity =
      credentials === undefined
        ? ((await this.#fromToken(request, authorization)) ?? (await this.#fromCookie(request, readCookie(cookie))))
        : await this.#fromBasic(request, authorization!, credentials)
    if (this.#isBarred(request, identity)) throw forbidden('Superusers may not act from this address.')
    this.#identities.set(request, identity)
    return identity
  }

  identityOf(request: FastifyRequest): Identity {
    return this.#identities.get(request) ?? guest(request)
  }

  /** If name and password are right. Each way costs one hash, whether there is such a name or not. @throws ServiceError UNAUTHENTICATED, TOO_MANY_REQUESTS */
  async logIn(request: FastifyRequest, name: string, password: string): Promise<Login> {
    const { accounts } = this.#host
    const collection = await this.#collectionOf(name)
    if (collection !== undefined && accounts?.takesPasswords(collection, request.ip) === true) {
      const from = { ip: request.ip, userAgent: request.headers['user-agent'] ?? '' }
      const { principal, token, seconds, isCurrent } = await accounts.logIn(collection, name, password, from)
      const identity = await this.#withToken(request, principal, 'password', token)
      const times = { keptMs: TOKEN_KEPT_MS, cookieSeconds: seconds }
      return { ...identity, ...times, name: principal.name!, cookie: () => token, isCurrent }
    }
    const account = await this.#verify(request.ip, name, password)
    if (account === undefined) throw new ServiceError('UNAUTHENTICATED', 'Name or password is incorrect.')
    return this.#loginOf(request, account)
  }

  /**
   * The principal with this name as of now, whose work the server does while they are away. A name of a user and an admin means the user here.
   * So a user whose name an admin takes later gets no rights of the admin.
   */
  async delegated(name: string): Promise<Principal | undefined> {
    const found = (await this.accounts.user(name)) ?? (await this.accounts.find(name))
    if (found !== undefined) return principalOf(found, 'delegation')
    const isSuperuser = (await this.#host.accounts?.isSuperuser(name)) === true
    return isSuperuser ? principalOf({ name, roles: [ADMIN_ROLE] }, 'delegation') : undefined
  }

  /**
   * Whether this request signs up: a sender who is not an admin makes a user. Each one counts as a failed login.
   *
   * @throws ServiceError TOO_MANY_REQUESTS
   */
  isSignUp({ method, routeOptions, params, ip, principal }: FastifyRequest): boolean {
    const { db, id } = (params ?? {}) as { readonly db?: string; readonly id?: string }
    if (this.options.signUp !== true || method !== 'PUT' || routeOptions.url !== '/:db/:id') return false
    if (db !== USERS_DATABASE || id?.startsWith(USER_PREFIX) !== true || principal.isAdmin) return false
    const name = id.slice(USER_PREFIX.length)
    if (name === principal.name) return false
    this.#host.limiter.attempt(ip, name)
    return true
  }

  /** The value of a session cookie. `id`: of the session that it renews. */
  cookieFor({ name, salt }: Account, id: string = newSessionId(this.#host.environment)): string {
    return encodeToken({ name, id, issuedMs: this.#host.environment.wallClock() }, this.#signingKey, salt)
  }

  /** A cookie that is to be renewed: a tenth of its time is over. */
  isRenewalDue({ issuedMs }: Identity): boolean {
    return issuedMs !== undefined && this.#host.environment.wallClock() - issuedMs > this.sessionMsMax / 10
  }

  /** Ends a session: its cookies are refused from now on, renewed ones too. */
  async endSession({ sessionId, principal, token }: Identity): Promise<void> {
    if (token !== undefined && principal.by === 'session') await this.#host.accounts?.endSession(principal)
    if (sessionId !== undefined)
      await this.#ended.add(sessionId, this.#host.environment.wallClock() + this.sessionMsMax)
  }

  /**
   * @throws ServiceError UNAUTHENTICATED, FORBIDDEN; NOT_FOUND for a missing database, except for server admins, who
   *   may do anything there
   */
  async check(principal: Principal, needs: Needs, database: string | undefined, documentId?: string): Promise<void> {
    if (principal.isAdmin) return
    const isOfDatabase = database !== undefined && (needs === 'member' || needs === 'database-admin')
    const settings = isOfDatabase ? await this.#settingsFor(principal, database) : {}
    const refusal = refusalOf({ principal, needs, database, documentId, ...settings })
    if (refusal !== undefined) throw refusal
  }

  /**
   * The part of a database that the principal may read: of `_users` at least the principal's own document. Where
   * anybody may sign up, anybody may open `_users`, and then reads nothing.
   *
   * @throws ServiceError as `check`
   */
  async scopeOf(principal: Principal, database: string): Promise<ReadScope> {
    if (principal.isAdmin) return 'all'
    const refusal = refusalOf({
      principal,
      needs: 'member',
      database,
      ...(await this.#settingsFor(principal, database)),
    })
    if (refusal === undefined) return 'all'
    if (database !== USERS_DATABASE) throw refusal
    if (principal.name !== null) return new Set([USER_PREFIX + principal.name])
    if (this.options.signUp === true) return new Set()
    throw refusal
  }

  checkAdmin(principal: Principal, database: string): Promise<void> {
    return this.check(principal, 'database-admin', database)
  }

  /**
   * For long answers, such as change feeds. Calls `revoked` once when the sender loses the right to see them: by a
   * logout, a deletion, another password, other roles, or `_security`. Call the result when the answer has ended.
   */
  whileAllowed(
    request: FastifyRequest,
    needs: Needs,
    database: string | undefined,
    revoked: (error: ServiceError) => void,
  ): () => void {
    const identity = this.identityOf(request)
    let isOver = false
    const stop = (): void => {
      isOver = true
      stopWatching()
    }
    const check = async (): Promise<void> => {
      const error = await this.#revocationOf(request, needs, database)
      if (error === undefined || isOver) return
      stop()
      revoked(error)
    }
    const name = identity.principal.name ?? undefined
    const stopWatching = this.#watch.add(name, () => void check())
    // A change since the request came was not reported: check now.
    void check()
    return stop
  }

  /** Changes with all that decides about permissions. */
  get version(): number {
    return this.#watch.version
  }

  /** The user as of now, whose body has come in the meantime. @throws ServiceError UNAUTHENTICATED, FORBIDDEN if they may not any more */
  async checkAgain(
    request: FastifyRequest,
    needs: Needs,
    database: string | undefined,
    documentId?: string,
  ): Promise<Principal> {
    const { account, sessionId, principal: before, token } = this.identityOf(request)
    if (token !== undefined) return this.#checkToken(request, token, needs, database, documentId)
    const now = account && (await this.accounts.find(account.name))
    if (now?.salt !== account?.salt || (sessionId !== undefined && this.#ended.has(sessionId)))
      throw new ServiceError('UNAUTHENTICATED', 'The session has ended.')
    const principal = now === undefined ? before : principalOf(now, before.by, before.address)
    await this.check(principal, needs, database, documentId)
    return principal
  }

  close(): void {
    this.accounts.close()
    this.#ended.close()
    this.#watch.close()
  }

  /** The collection of the application whose account logs in with the name. Admins come first, then superusers, `_users`, and `users`. */
  async #collectionOf(name: string): Promise<AppCollection | undefined> {
    const { accounts } = this.#host
    if (accounts === undefined) return undefined
    const found = await this.accounts.find(name)
    if (found?.isAdmin === true) return undefined
    if (await accounts.isIdentity('_superusers', name)) return '_superusers'
    return found === undefined ? 'users' : undefined
  }

  /** Whether the sender is a superuser who may not act from the address. */
  #isBarred({ ip }: FastifyRequest, { principal, token }: Pick<Identity, 'principal' | 'token'>): boolean {
    return token !== undefined && principal.isAdmin && this.#host.accounts?.allowsSuperuserAt(ip) === false
  }

  #verify(address: string, name: string, password: string): Promise<Account | undefined> {
    return this.#host.limiter.compare(address, name, () => this.accounts.verify(name, password))
  }

  /** Basic credentials are the password. A session may be stolen or left open. @throws ServiceError FORBIDDEN, TOO_MANY_REQUESTS */
  async #checkPassword({ name, by, address = '' }: Principal, current: unknown): Promise<void> {
    if (by === 'password') return
    if (typeof current !== 'string') throw forbidden(CURRENT_PASSWORD)
    if ((await this.#verify(address, name!, current)) === undefined) throw forbidden('current_password is wrong.')
  }

  async #revocationOf(
    request: FastifyRequest,
    needs: Needs,
    database: string | undefined,
  ): Promise<ServiceError | undefined> {
    try {
      await this.checkAgain(request, needs, database)
      return undefined
    } catch (error) {
      // If the check itself fails, refuse.
      return error instanceof ServiceError ? error : new ServiceError('UNAVAILABLE', 'Try again later.')
    }
  }

  /** Guests can't distinguish a database that they may not see from one that does not exist. */
  async #settingsFor(principal: Principal, database: string): Promise<Pick<Access, 'security' | 'isOpen'>> {
    const { app, security } = this.#host
    try {
      if (app?.find(database) !== undefined) return { isOpen: app.isOpenTo(principal, database) }
      return { security: await security(database) }
    } catch (error) {
      if (principal.name === null && error instanceof ServiceError && error.code === 'NOT_FOUND') return {}
      throw error
    }
  }

  async #fromCookie(request: FastifyRequest, cookie: string | undefined): Promise<Identity> {
    const claimed = cookie === undefined ? undefined : decodeToken(cookie)
    if (claimed === undefined) {
      return (cookie === undefined ? undefined : await this.#ofToken(request, cookie, 'session')) ?? guest(request)
    }
    if (this.#ended.has(claimed.id)) return guest(request)
    const age = ageMs(this.#host.environment.wallClock(), claimed.issuedMs)
    const account = await this.accounts.find(claimed.name)
    // Does the same work for unknown names, so that timing reveals nothing.
    const genuine = isGenuine(claimed, this.#signingKey, account?.salt ?? '')
    if (!genuine || account === undefined || !(age < this.sessionMsMax)) return guest(request)
    const principal = principalOf(account, 'session', request.ip)
    return { principal, account, sessionId: claimed.id, issuedMs: claimed.issuedMs }
  }

  /** Undefined for a token that the application does not know. */
  async #fromToken(request: FastifyRequest, authorization: string | undefined): Promise<Identity | undefined> {
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
    return token === undefined ? undefined : this.#ofToken(request, token, 'token')
  }

  async #ofToken(request: FastifyRequest, token: string, by: Principal['by']): Promise<Identity | undefined> {
    const principal = await this.#host.accounts?.principalOf(token)
    return principal && this.#withToken(request, principal, by, token)
  }

  async #withToken(
    request: FastifyRequest,
    principal: Principal,
    by: Principal['by'],
    token: string,
  ): Promise<Identity> {
    const from = await this.#asSent(request, principal, by)
    return { principal: from, account: undefined, sessionId: undefined, issuedMs: undefined, token }
  }

  async #checkToken(
    request: FastifyRequest,
    token: string,
    needs: Needs,
    database: string | undefined,
    documentId: string | undefined,
  ): Promise<Principal> {
    const principal = await this.#host.accounts?.principalOf(token)
    if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'The token is not valid any more.')
    const from = await this.#asSent(request, principal, this.identityOf(request).principal.by)
    await this.check(from, needs, database, documentId)
    return from
  }

  /** The principal of a token as the sender of the request, with its roles as of now. */
  async #asSent({ ip: address }: FastifyRequest, principal: Principal, by: Principal['by']): Promise<Principal> {
    return { ...principal, roles: await this.accounts.rolesOf(principal), by, address }
  }

  async #fromBasic(request: FastifyRequest, authorization: string, credentials: Credentials): Promise<Identity> {
    return this.#basic.verify(
      `${request.ip} ${authorization}`,
      async (login) => {
        const { account, token, isCurrent } = login
        if (token !== undefined) {
          // What is refused now costs a hash, as a wrong password does.
          const found = isCurrent?.() === true ? await this.#ofToken(request, token, 'password') : undefined
          return found && { ...login, ...found }
        }
        const found = await this.accounts.find(account!.name)
        return found?.salt === account!.salt ? this.#loginOf(request, found) : undefined
      },
      () => this.logIn(request, credentials.name, credentials.password),
    )
  }

  #loginOf(request: FastifyRequest, account: Account): Login {
    const principal = principalOf(account, 'password', request.ip)
    const cookie = (): string => this.cookieFor(account)
    const times = { keptMs: KEPT_MS, cookieSeconds: Math.floor(this.sessionMsMax / 1000) }
    return { principal, account, sessionId: undefined, issuedMs: undefined, name: account.name, cookie, ...times }
  }
}

function guest({ ip: address }: FastifyRequest): Identity {
  return { principal: { ...GUEST, address }, account: undefined, sessionId: undefined, issuedMs: undefined }
}

interface Credentials {
  readonly name: string
  readonly password: string
}

/** Undefined for what is no Basic authentication. */
function readBasic(authorization: string): Credentials | undefined {
  const match = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)
  if (match === null) return undefined
  const text = Buffer.from(match[1]!, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
