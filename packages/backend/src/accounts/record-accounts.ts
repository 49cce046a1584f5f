/** Accounts of the application: records of auth collections, who log in with passwords and are known by tokens. */
import type { DatabaseChange } from 'pannier'
import { DEFINITIONS_COLLECTION } from '../definitions/store.ts'
import { recordsName } from '../definitions/definition.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { Actor } from '../access/actor.ts'
import { outside } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { KnownTokens } from './known-tokens.ts'
import { PasswordLogin } from './password-login.ts'
import { SecondFactors } from './second-factors.ts'
import { claimsIn, isGenuine, signToken } from './tokens.ts'

/** Somebody who has logged in. */
export interface LoggedIn {
  /** The auth collection of the record. */
  readonly definition: AuthDefinition
  /** Its account has the record. */
  readonly principal: Principal
  /** A token of the record, for later requests. */
  readonly token: string
}

/** A login by one method, where two are needed. */
interface HalfLoggedIn {
  /** What the login by the other method brings. */
  readonly mfaId: string
}

export class RecordAccounts {
  readonly #host: AccountsHost
  readonly #known = new KnownTokens()
  readonly #passwordLogin: PasswordLogin
  readonly #secondFactors: SecondFactors
  readonly #stopListening: () => void
  /** The definitions that the known tokens were checked with. */
  #definitions: unknown

  constructor(host: AccountsHost) {
    this.#host = host
    this.#passwordLogin = new PasswordLogin(host.definitions, host.passwords, host.attempt)
    this.#secondFactors = new SecondFactors(host)
    this.#stopListening = host.database.onChange(({ collections }) => {
      for (const [name, { ids, dropped }] of collections) {
        const collection = collectionIn(name)
        if (collection !== undefined) this.#known.changed(collection, dropped ? undefined : ids)
      }
    })
  }

  /** Whose the token is. Undefined for a text that is no valid token: then somebody is a guest. */
  async principalOf(token: string): Promise<Principal | undefined> {
    const { definitions, now } = this.#host
    if (this.#definitions !== definitions.schema) {
      // A secret may have changed.
      this.#known.clear()
      this.#definitions = definitions.schema
    }
    const known = this.#known.get(token, now())
    if (known !== undefined) return known
    const claims = claimsIn(token)
    if (claims?.type !== 'auth') return undefined
    const definition = definitions.find(claims.collectionId)
    if (definition?.type !== 'auth' || definition.id !== claims.collectionId) return undefined
    const { version } = this.#known
    const record = await definitions.records(definition).get(claims.id)
    if (record === undefined || !(await isGenuine(token, keyOf(definition, record), now()))) return undefined
    const principal = principalOf(definition, record)
    this.#known.set(token, { principal, expiresMs: claims.exp * 1000 }, version)
    return principal
  }

  /**
   * Logs in with an identity and a password.
   *
   * @throws ServiceError NOT_FOUND, FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS
   */
  async authWithPassword(actor: Actor, collection: string, input: JsonObject): Promise<LoggedIn | HalfLoggedIn> {
    const definition = this.authDefinition(collection)
    const within: Actor = { ...actor, request: { ...actor.request, context: 'password' } }
    const record = await this.#passwordLogin.verify(within, definition, input)
    await this.#checkLogin(within, definition, record)
    const { mfaId: given = '' } = input
    const begun = actor.request.query['mfaId'] || (typeof given === 'string' ? given : '')
    const mfaId = await this.#secondFactors.need(within, definition, record, 'password', begun)
    if (mfaId !== undefined) return { mfaId }
    return loggedIn(definition, record, await this.#newToken(definition, record))
  }

  /** Exchanges the token of the actor for one that is valid for longer. @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
  async authRefresh(actor: Actor, collection: string, token: string): Promise<LoggedIn> {
    const { definitions } = this.#host
    const { account } = actor.principal
    if (account === undefined)
      throw new ServiceError('UNAUTHENTICATED', 'The request requires valid record authorization token.')
    const own = definitions.find(account.collection) as AuthDefinition
    if (definitions.find(collection)?.id !== own.id)
      throw forbidden(`The request requires auth record from ${own.name} collection.`)
    const { record } = account
    await this.#checkLogin(actor, own, record)
    const isRefreshable = claimsIn(token)?.refreshable === true
    return loggedIn(own, record, isRefreshable ? await this.#newToken(own, record) : token)
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
    await this.#checkLogin(actor, definition, record)
    return loggedIn(definition, record, await this.#newToken(definition, record, { duration, refreshable: false }))
  }

  /** @throws ServiceError NOT_FOUND */
  authDefinition(collection: string): AuthDefinition {
    const definition = this.#host.definitions.find(collection)
    if (definition === undefined) throw missing('Missing or invalid collection context.')
    if (definition.type !== 'auth') throw missing('Missing or invalid auth collection context.')
    return definition
  }

  /** The superuser with this e-mail address. */
  async superuser(email: string): Promise<JsonObject | undefined> {
    const definition = this.#host.definitions.find(SUPERUSERS)
    if (definition === undefined || email === '') return undefined
    return await this.#host.definitions.records(definition).find({ email }).first()
  }

  /** The names of principals that a change concerns; 'all' if anybody may be. */
  changedNames({ collections }: DatabaseChange): 'all' | readonly string[] {
    if (collections.has(DEFINITIONS_COLLECTION)) return 'all'
    const names: string[] = []
    for (const [name, { ids }] of collections) {
      const definition = this.#host.definitions.find(collectionIn(name) ?? '')
      if (definition?.type !== 'auth') continue
      if (ids === undefined || definition.name === SUPERUSERS) return 'all'
      names.push(...ids.map((id) => nameOf(definition, id)))
    }
    return names
  }

  close(): void {
    this.#stopListening()
  }

  /** @throws ServiceError FORBIDDEN */
  async #checkLogin(actor: Actor, definition: AuthDefinition, record: JsonObject): Promise<void> {
    const { settings, admits } = this.#host
    if (definition.name === SUPERUSERS && !settings.allowsSuperuserAt(actor.principal.address)) throw forbidden('')
    if (definition.authRule === '' || (await admits(actor, definition, definition.authRule, record))) return
    throw forbidden("The request doesn't satisfy the collection requirements to authenticate.")
  }

  #newToken(
    definition: AuthDefinition,
    record: JsonObject,
    { duration = 0, refreshable = true }: { readonly duration?: number; readonly refreshable?: boolean } = {},
  ): Promise<string> {
    const exp = Math.floor(this.#host.now() / 1000) + (duration || definition.authToken.duration)
    const claims = { type: 'auth', id: String(record['_id']), collectionId: definition.id, exp, refreshable }
    return signToken(claims, keyOf(definition, record))
  }
}

function loggedIn(definition: AuthDefinition, record: JsonObject, token: string): LoggedIn {
  return { definition, principal: principalOf(definition, record), token }
}

/** The principal of a record that has shown its token. */
function principalOf(definition: AuthDefinition, record: JsonObject): Principal {
  const isAdmin = definition.name === SUPERUSERS
  return {
    name: isAdmin ? String(record['email']) : nameOf(definition, String(record['_id'])),
    roles: isAdmin ? ['_admin'] : [],
    isAdmin,
    by: 'token',
    account: { collection: definition.id, record },
  }
}

/** No user of CouchDB's door can have a name with a colon. */
function nameOf({ name }: AuthDefinition, id: string): string {
  return `${name}:${id}`
}

/** What the tokens of a record are signed with. */
function keyOf(definition: AuthDefinition, record: JsonObject): string {
  return `${String(record['tokenKey'])}${definition.authToken.secret}`
}

const RECORDS = recordsName({ id: '' })

/** The id of the definition whose records a collection of the library has. */
function collectionIn(name: string): string | undefined {
  return name.startsWith(RECORDS) ? name.slice(RECORDS.length) : undefined
}
