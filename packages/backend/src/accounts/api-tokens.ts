/**
 * API tokens: a superuser makes them for programs. One acts as an account, within scopes. The secret is shown once; what is stored
 * is its hash. docs/internals/api-tokens.md is the contract.
 */
import { isObject } from 'pannier/internal'
import { createHash, timingSafeEqual } from 'node:crypto'
import { isPannierError } from 'pannier'
import type { Collection, Database } from 'pannier'
import type { Environment } from 'pannier/types'
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { LOWER, randomSecret, randomText } from '../gateway/chance.ts'
import { API_TOKENS_COLLECTION, SUPERUSERS } from '../definitions/system-collections.ts'
import { dateText, readDate, timeOfDateText } from '../fields/date-text.ts'
import { BLANK, fieldError } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal, ScopedAction, Scopes } from '../gateway/principal.ts'
import { checkAdmin, checkNames, forbidden, invalid, missing } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { checkForm, isRecordId, readTexts, textError } from './forms.ts'
import type { KnownToken } from './known-tokens.ts'
import { principalOf, type Holder } from './tokens.ts'

interface ApiTokensHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly environment: Environment
}

/** An API token, as superusers see it. */
export interface ApiTokenInfo {
  readonly id: string
  readonly name: string
  /** The account that it acts as: the name of the collection, and the id. */
  readonly collection: string
  readonly record: string
  /** Actions by the names of collections. */
  readonly scopes: Readonly<Record<string, readonly ScopedAction[]>>
  /** Dates as records have them; empty: never. */
  readonly created: string
  /** The time of the last use, to ten minutes. */
  readonly used: string
  readonly expires: string
}

interface StoredApiToken {
  readonly _id: string
  readonly name: string
  /** The secret's SHA-256: it has 256 random bits, so no slow hash is needed. */
  readonly hash: string
  /** The definition and the record of the account. */
  readonly collectionRef: string
  readonly recordRef: string
  readonly scopes: Readonly<Record<string, readonly ScopedAction[]>>
  /** When it was created, in milliseconds since 1970; 0: never. */
  readonly createdMs: number
  readonly usedMs: number
  readonly expiresMs: number
}

const TOKEN = /^pannier_([a-z0-9]{15})_([\w-]{43})$/
const ID_CHARS = 15
const SECRET_BYTES = 32
const NAME_BYTES_MAX = 100
const TOKENS_MAX = 1000
const ACTIONS: readonly ScopedAction[] = ['list', 'view', 'create', 'update', 'delete']
const NO_COLLECTION = fieldError('validation_invalid_auth_collection', 'Must be the id or name of an auth collection.')
const SUPERUSER = fieldError('validation_invalid_account', 'An API token can not act as a superuser.')
const NO_RECORD = fieldError('validation_invalid_record', 'Missing or invalid record.')
const WRONG_SCOPES = fieldError(
  'validation_invalid_scopes',
  'Must be lists of list, view, create, update or delete, by the names or ids of collections.',
)
const NO_FUTURE = fieldError('validation_invalid_date', 'Must be a date in the future.')

export class ApiTokens {
  readonly #host: ApiTokensHost
  readonly #stored: Collection<StoredApiToken>

  constructor(host: ApiTokensHost) {
    this.#host = host
    this.#stored = host.database.collection<StoredApiToken>(API_TOKENS_COLLECTION)
  }

  /** The token is in the answer, and nowhere else. @throws ServiceError FORBIDDEN, INVALID with data */
  async create(principal: Principal, input: JsonObject): Promise<ApiTokenInfo & { readonly token: string }> {
    checkAdmin(principal)
    checkNames('An API token', input, ['name', 'collection', 'record', 'scopes', 'expires'])
    const { name, collection, record, expires } = readTexts(input, ['name', 'collection', 'record', 'expires'])
    const definition = this.#host.definitions.find(collection)
    const scopes = this.#scopesIn(input['scopes'])
    const nowMs = this.#host.environment.wallClock()
    const expiresMs = expires === '' ? 0 : timeOfDateText(readDate(expires))
    checkForm({
      name: textError(name, 1, NAME_BYTES_MAX),
      collection: collectionError(collection, definition),
      record: await this.#recordError(definition, record),
      scopes: scopes === undefined ? WRONG_SCOPES : undefined,
      expires: expires === '' || expiresMs > nowMs ? undefined : NO_FUTURE,
    })
    if ((await this.#stored.info()).documents >= TOKENS_MAX)
      throw invalid(`There are ${TOKENS_MAX} API tokens already.`)
    const secret = randomSecret(this.#host.environment, SECRET_BYTES)
    const stored: StoredApiToken = {
      _id: randomText(this.#host.environment, ID_CHARS, LOWER),
      name,
      hash: hashOf(secret),
      collectionRef: definition!.id,
      recordRef: record,
      scopes: scopes!,
      createdMs: nowMs,
      usedMs: 0,
      expiresMs,
    }
    await this.#stored.insert(stored)
    return { ...this.#present(stored), token: `pannier_${stored._id}_${secret}` }
  }

  /** The newest one first. @throws ServiceError FORBIDDEN */
  async list(principal: Principal): Promise<readonly ApiTokenInfo[]> {
    checkAdmin(principal)
    const stored = await this.#stored.find({}).sort('-$created').toArray()
    return stored.map((one) => this.#present(one))
  }

  /** Resolves with the account that it acted as, if that is still there. @throws ServiceError FORBIDDEN, NOT_FOUND */
  async delete(principal: Principal, id: string): Promise<Holder | undefined> {
    checkAdmin(principal)
    const stored = isRecordId(id) ? await this.#stored.get(id) : undefined
    if (stored === undefined || (await this.#stored.delete(id)) === undefined) throw missing('')
    return this.#holderOf(stored)
  }

  /** Undefined for a text that is no valid token. */
  async read(token: string): Promise<KnownToken | undefined> {
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
    const stored = id === '' ? undefined : await this.#stored.get(id)
    if (stored === undefined || !isSame(stored.hash, hashOf(secret)) || this.#isOver(stored)) return undefined
    const holder = await this.#holderOf(stored)
    if (holder === undefined) return undefined
    const scopes: Scopes = new Map(Object.entries(stored.scopes).map(([name, actions]) => [name, new Set(actions)]))
    const principal = { ...principalOf(holder), apiToken: { id, name: stored.name, scopes } }
    return { principal, expiresMs: stored.expiresMs || Infinity, usedMs: stored.usedMs }
  }

  /** Whether the API token of a principal is no longer valid. */
  async hasEnded({ apiToken }: Principal): Promise<boolean> {
    const stored = apiToken && (await this.#stored.get(apiToken.id))
    return apiToken !== undefined && (stored === undefined || this.#isOver(stored))
  }

  /** Stores that one is used now. */
  async noteUse(id: string): Promise<void> {
    await this.#stored
      .update(id, (old) => ({ ...old, usedMs: this.#host.environment.wallClock() }))
      .catch((error: unknown) => {
        if (!isPannierError(error, 'PANNIER_NOT_FOUND')) throw error
      })
  }

  #isOver({ expiresMs }: StoredApiToken): boolean {
    return expiresMs !== 0 && this.#host.environment.wallClock() >= expiresMs
  }

  async #holderOf({ collectionRef, recordRef }: StoredApiToken): Promise<Holder | undefined> {
    const { definitions } = this.#host
    const definition = definitions.find(collectionRef)
    if (definition?.type !== 'auth' || definition.id !== collectionRef) return undefined
    const record = await definitions.records(definition).get(recordRef)
    return record && { definition, record }
  }

  #present({ _id, name, scopes, createdMs, usedMs, expiresMs, ...account }: StoredApiToken): ApiTokenInfo {
    const nameOf = (id: string): string => this.#host.definitions.find(id)?.name ?? id
    const date = (time: number): string => (time === 0 ? '' : dateText(time))
    return {
      id: _id,
      name,
      collection: nameOf(account.collectionRef),
      record: account.recordRef,
      scopes: Object.fromEntries(Object.entries(scopes).map(([id, actions]) => [nameOf(id), actions])),
      created: date(createdMs),
      used: date(usedMs),
      expires: date(expiresMs),
    }
  }

  /** By ids of definitions; undefined if anything is wrong. */
  #scopesIn(value: unknown): StoredApiToken['scopes'] | undefined {
    if (!isObject(value) || Object.keys(value).length === 0) return undefined
    const scopes = new Map<string, readonly ScopedAction[]>()
    for (const [name, actions] of Object.entries(value)) {
      const definition = this.#host.definitions.find(name)
      if (definition === undefined || scopes.has(definition.id) || !Array.isArray(actions)) return undefined
      const known = ACTIONS.filter((action) => actions.includes(action))
      if (known.length === 0 || known.length !== new Set(actions).size) return undefined
      scopes.set(definition.id, known)
    }
    return Object.fromEntries(scopes)
  }

  async #recordError(definition: { readonly type: string } | undefined, id: string): Promise<FieldError | undefined> {
    if (id === '') return BLANK
    if (definition?.type !== 'auth') return undefined
    const { definitions } = this.#host
    const isThere =
      !id.startsWith('_') && (await definitions.records(definition as AuthDefinition).get(id)) !== undefined
    return isThere ? undefined : NO_RECORD
  }
}

/** Whether a text is meant as an API token. */
export function isApiToken(token: string): boolean {
  return token.startsWith('pannier_')
}

/** Refuses an API token for actions that only the account itself may take. @throws ServiceError FORBIDDEN */
export function refuseApiToken({ apiToken }: Principal): void {
  if (apiToken !== undefined) throw forbidden('An API token is not allowed to do this: it takes a login.')
}

function collectionError(
  name: string,
  definition: { readonly type: string; readonly name: string } | undefined,
): FieldError | undefined {
  if (name === '') return BLANK
  if (definition?.type !== 'auth') return NO_COLLECTION
  return definition.name === SUPERUSERS ? SUPERUSER : undefined
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
