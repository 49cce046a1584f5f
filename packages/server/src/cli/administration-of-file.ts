/** Users and databases in the database file of a server that does not run. */
import { isPannierError } from 'pannier'
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import { Accounts, checkName, USER_PREFIX } from '../auth/accounts.ts'
import { DEFAULT_SECURITY, USERS_DATABASE } from '../auth/permissions.ts'
import { ServiceError } from '@pannier/backend'
import { Databases, forbidden, Passwords, ServerState } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { appCollectionIn } from './app-collections.ts'
import {
  isMissing,
  isThere,
  readSecurity,
  type Administration,
  type KnownDatabase,
  type KnownUser,
  type NewUser,
  type Security,
} from './administration.ts'

type Users = Awaited<ReturnType<Databases['get']>>

/** The administration of a file. Throws ServiceErrors. */
export class FileAdministration implements Administration {
  readonly #environment: Environment
  readonly #database: Database
  readonly #state: ServerState
  readonly #databases: Databases

  constructor(database: Database, environment: Environment) {
    this.#environment = environment
    this.#database = database
    this.#state = new ServerState(database)
    this.#databases = new Databases(database, this.#state)
  }

  async users(): Promise<KnownUser[]> {
    const { accounts, users } = await this.#accounts()
    const known: KnownUser[] = []
    for (const name of await accounts.adminNames()) known.push({ name, roles: [], isAdmin: true })
    for (const document of await users.find({ type: 'user' }).sort('_id').toArray()) {
      const { name, roles = [] } = document as { readonly name?: string; readonly roles?: readonly string[] }
      if (typeof name === 'string') known.push({ name, roles, isAdmin: false })
    }
    return known
  }

  async addUser({ name, password, roles, isAdmin }: NewUser): Promise<void> {
    checkName(name)
    const { accounts, users } = await this.#accounts()
    const taken = new ServiceError('CONFLICT', `There is a user ${name} already.`)
    if ((await accounts.find(name)) !== undefined) throw taken
    if (isAdmin) return accounts.setAdmin(name, password)
    const credentials = await accounts.credentials(password)
    try {
      await users.insert({ _id: USER_PREFIX + name, name, type: 'user', roles, ...credentials })
    } catch (error) {
      throw isPannierError(error, 'PANNIER_CONFLICT') ? taken : error
    }
  }

  async setPassword(name: string, password: string): Promise<void> {
    const { accounts, users } = await this.#accounts()
    if ((await accounts.adminNames()).includes(name)) return accounts.setAdmin(name, password)
    if ((await accounts.find(name)) === undefined) throw noUser(name)
    const credentials = await accounts.credentials(password)
    await users.update(USER_PREFIX + name, (document) => ({ ...document, ...credentials }))
  }

  async removeUser(name: string): Promise<void> {
    const { accounts, users } = await this.#accounts()
    if ((await accounts.adminNames()).includes(name)) return accounts.removeAdmin(name)
    const id = USER_PREFIX + name
    const winner = await users.get(id, { conflicts: true })
    if (winner === undefined) throw noUser(name)
    if (winner['recordRef'] !== undefined)
      throw forbidden(`${name} is an account of the application: delete its record.`)
    // All branches: one that stayed would be the user again.
    const revs = [...((winner['_conflicts'] ?? []) as string[]), winner['_rev'] as string]
    await users.put(revs.map((rev) => ({ _id: id, _rev: rev, _deleted: true })))
  }

  async databases(): Promise<KnownDatabase[]> {
    const known: KnownDatabase[] = []
    for (const name of await this.#databases.names()) {
      const { documents } = await (await this.#databases.get(name)).info()
      known.push({ name, documents, security: await this.security(name) })
    }
    return known
  }

  async createDatabase(name: string): Promise<void> {
    if ((await appCollectionIn(this.#database, name)) !== undefined)
      throw new ServiceError(
        'EXISTS',
        `${name} is a collection of the application: the server serves it as a database.`,
      )
    if (await this.#databases.has(name)) throw new ServiceError('EXISTS', isThere(name))
    await this.#databases.create(name)
  }

  async security(name: string): Promise<Security> {
    if (!(await this.#databases.has(name))) throw new ServiceError('NOT_FOUND', isMissing(name))
    return readSecurity((await this.#databases.security(name)) ?? DEFAULT_SECURITY)
  }

  setSecurity(name: string, security: Security): Promise<void> {
    return this.#databases.setSecurity(name, { ...security })
  }

  close(): void {
    this.#databases.close()
  }

  async #accounts(): Promise<{ readonly accounts: Accounts; readonly users: Users }> {
    await this.#databases.ensure(USERS_DATABASE)
    const users = await this.#databases.get(USERS_DATABASE)
    const security = (of: string): Promise<JsonObject | undefined> => this.#databases.security(of)
    const shared = { environment: this.#environment, database: this.#database, state: this.#state }
    const host = { ...shared, passwords: new Passwords(this.#environment), users, security }
    return { accounts: new Accounts(host), users }
  }
}

function noUser(name: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no user ${name}.`)
}
