/**
 * The accounts that CouchDB's door has by itself: admins, in the server's state, and users, in the `_users` database. An admin hides a user
 * of the same name. Accounts of the application (auth/app-accounts.ts) are others. They have roles in `_users`.
 */
import { isObject } from 'pannier/internal'
import { isPannierError } from 'pannier'
import type { Principal } from '@pannier/backend'
import { STATE_COLLECTION, forbidden, invalid, missing } from '@pannier/backend/internal'
import type { JsonObject, Passwords } from '@pannier/backend/internal'
import type { AuthHost } from './auth-host.ts'
import { CREDENTIAL_FIELDS, PASSWORD_SCHEME, sessionSaltOf, verifyCredentials } from './couch-credentials.ts'

export const USER_PREFIX = 'org.couchdb.user:'
export const NAME_CHARS_MAX = 200
export const ADMIN_ROLE = '_admin'
const STATE_ID = 'auth/admins'
/** Fields that clients send and that are never stored. */
const PASSWORD_FIELDS: ReadonlySet<string> = new Set(['password', 'current_password'])

export interface Account {
  readonly name: string
  readonly roles: readonly string[]
  /** Changes with the password. */
  readonly salt: string
  readonly isAdmin: boolean
  /** Credentials, with the fields that documents in `_users` have. */
  readonly credentials: JsonObject
}

interface Admin {
  readonly name: string
  readonly credentials: JsonObject
}

type AccountsHost = Omit<AuthHost, 'limiter'>

export class Accounts {
  readonly #host: AccountsHost
  readonly #passwords: Passwords
  readonly #passwordCharsMin: number | undefined
  readonly #stopListening: () => void

  constructor(host: AccountsHost, passwordCharsMin?: number) {
    this.#host = host
    this.#passwords = host.passwords
    this.#passwordCharsMin = passwordCharsMin
    this.#stopListening = host.database.subscribe(({ collections }) => {
      if (collections.has(STATE_COLLECTION)) this.#known = undefined
    })
  }

  async find(name: string): Promise<Account | undefined> {
    const admin = (await (this.#known ??= this.#remembered())).find((one) => one.name === name)
    return admin === undefined ? this.user(name) : account(name, [ADMIN_ROLE], admin.credentials, true)
  }

  /** The user of `_users`, whether an admin hides them or not. */
  async user(name: string): Promise<Account | undefined> {
    // The document of an account of the application has no credentials.
    const isName = name !== '' && name.length <= NAME_CHARS_MAX && !name.includes(':')
    const document = isName ? await this.#document(name) : undefined
    return document && account(name, rolesOf(document), document, false)
  }

  /** The roles of a principal that has shown a token, with those that admins have given to its account. */
  async rolesOf({ name, roles, account: of }: Principal): Promise<readonly string[]> {
    if (of === undefined || name === null || name.length > NAME_CHARS_MAX) return roles
    const document = await this.#document(name)
    const isItsOwn = document?.['collectionRef'] === of.collection && document['recordRef'] === of.record['_id']
    return isItsOwn ? [...roles, ...rolesOf(document)] : roles
  }

  /** Undefined for what is no user. */
  async #document(name: string): Promise<JsonObject | undefined> {
    const document = await this.#host.users.get(USER_PREFIX + name, { conflicts: true })
    if (document === undefined || document['name'] !== name || document['type'] !== 'user') return undefined
    // As in CouchDB: with a conflict it is not known which leaf revision is the user.
    return document['_conflicts'] === undefined ? document : undefined
  }

  /** The account if the password is right. Takes as long without an account. */
  async verify(name: string, password: string): Promise<Account | undefined> {
    const found = await this.find(name)
    if (found === undefined) {
      await this.#passwords.waste(password)
      return undefined
    }
    const { ok, isOutdated } = await verifyCredentials(found.credentials, password, this.#passwords)
    if (!ok) return undefined
    if (isOutdated) await this.#rehash(found, password)
    // The user may have been deleted or given another password in the meantime.
    const now = await this.find(name)
    return now?.salt === found.salt ? now : undefined
  }

  /** New credentials, which end all earlier sessions. @throws ServiceError INVALID */
  async credentials(password: unknown): Promise<JsonObject> {
    const checked = this.#passwords.checkNew(password, this.#passwordCharsMin)
    return credentialsOf(await this.#passwords.hash(checked), this.#host.environment.randomId())
  }

  async adminNames(): Promise<string[]> {
    return (await this.#admins()).map(({ name }) => name).sort()
  }

  /** Makes an admin, or gives one a new password. @throws ServiceError INVALID */
  async setAdmin(name: string, password: string): Promise<void> {
    checkName(name)
    const credentials = await this.credentials(password)
    await this.#changeAdmins((admins) => [...admins.filter((one) => one.name !== name), { name, credentials }])
  }

  /** @throws ServiceError NOT_FOUND; FORBIDDEN for the last admin: nobody could make another one */
  async removeAdmin(name: string): Promise<void> {
    await this.#changeAdmins((admins) => {
      const rest = admins.filter((one) => one.name !== name)
      if (rest.length === admins.length) throw missing('unknown_config_value')
      if (rest.length === 0) throw forbidden('The last server admin can not be removed.')
      return rest
    })
  }

  async #rehash({ name, isAdmin, salt, credentials }: Account, password: string): Promise<void> {
    // Sessions depend on the salt, which stays: it is the same password.
    const renewed = credentialsOf(await this.#passwords.hash(password), salt)
    if (isAdmin) {
      await this.#changeAdmins((admins) =>
        admins.map((one) => (one.name === name ? { name, credentials: renewed } : one)),
      )
      return
    }
    try {
      await this.#host.users.update(USER_PREFIX + name, (document) =>
        // Keeps a password that was changed in the meantime.
        sessionSaltOf(document) === salt && CREDENTIAL_FIELDS.every((field) => document[field] === credentials[field])
          ? { ...withoutCredentials(document), ...renewed }
          : undefined,
      )
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_NOT_FOUND')) throw error
    }
  }

  async #admins(): Promise<readonly Admin[]> {
    return adminsIn((await this.#host.state.get(STATE_ID)) ?? {})
  }

  /**
   * Cached, because every request needs it. Read again after each change, also after one by another handle of the
   * database.
   */
  #known: Promise<readonly Admin[]> | undefined

  #remembered(): Promise<readonly Admin[]> {
    const reading = this.#admins()
    reading.catch(() => (this.#known = undefined))
    return reading
  }

  close(): void {
    this.#stopListening()
  }

  #changing: Promise<void> = Promise.resolve()

  /** One change after the other, of all servers. `change` may be called again. */
  #changeAdmins(change: (admins: readonly Admin[]) => readonly Admin[]): Promise<void> {
    const changed = this.#changing
      .catch(() => {})
      .then(() => this.#host.state.change(STATE_ID, (old) => ({ admins: change(adminsIn(old)) })))
      .finally(() => (this.#known = undefined))
    this.#changing = changed
    return changed
  }
}

/** @throws ServiceError INVALID */
export function checkName(name: unknown): asserts name is string {
  const isName = typeof name === 'string' && name !== '' && name.length <= NAME_CHARS_MAX
  // Basic credentials end a name at the colon; names of CouchDB's own start with an underscore.
  if (!isName || name.startsWith('_') || name.includes(':') || !name.isWellFormed() || name.includes('\0'))
    throw invalid('A name is a string without a colon that does not start with an underscore.')
}

function adminsIn(stored: JsonObject): readonly Admin[] {
  return (stored['admins'] ?? []) as readonly Admin[]
}

export function withoutCredentials(document: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).filter(([field]) => !PASSWORD_FIELDS.has(field) && !CREDENTIAL_FIELDS.includes(field)),
  )
}

function account(name: string, roles: readonly string[], credentials: JsonObject, isAdmin: boolean): Account {
  return { name, roles, credentials, isAdmin, salt: sessionSaltOf(credentials) }
}

/** Only the server grants roles that start with an underscore. Ignores them in documents. */
function rolesOf(document: JsonObject): string[] {
  const { roles } = document
  if (!isObject(document) || !Array.isArray(roles)) return []
  return roles.filter((role): role is string => typeof role === 'string' && !role.startsWith('_'))
}

function credentialsOf(hash: string, salt: string): JsonObject {
  return { password_scheme: PASSWORD_SCHEME, password_hash: hash, session_salt: salt }
}
