/** Makes users and admins in a database file that no server has open. */
import { isPannierError } from 'pannier'
import type { Database } from 'pannier'
import { Databases } from '../couch/databases.ts'
import { ServerState } from '../couch/server-state.ts'
import { HttpError } from '../http/http-error.ts'
import { Accounts, checkName, USER_PREFIX } from './accounts.ts'
import { HashQueue } from './hash-queue.ts'
import { PASSWORD_CHARS_MIN, Passwords } from './passwords.ts'
import { USERS_DATABASE } from './permissions.ts'

export interface NewUser {
  readonly name: string
  readonly password: string
  readonly roles: readonly string[]
  /** Of the server; such a one has no roles. */
  readonly isAdmin: boolean
}

/** @throws HttpError 400, 409 */
export async function addUser(database: Database, { name, password, roles, isAdmin }: NewUser): Promise<void> {
  checkName(name)
  const state = new ServerState(database)
  const databases = new Databases(database, state)
  try {
    await databases.ensure(USERS_DATABASE)
    const users = await databases.get(USERS_DATABASE)
    const host = { database, state, users, security: (of: string) => databases.security(of) }
    const accounts = new Accounts(host, new Passwords(new HashQueue()), PASSWORD_CHARS_MIN)
    if ((await accounts.find(name)) !== undefined)
      throw new HttpError(409, 'conflict', `There is a user ${name} already.`)
    if (isAdmin) return await accounts.setAdmin(name, password)
    const credentials = await accounts.credentials(password)
    await users.insert({ _id: USER_PREFIX + name, name, type: 'user', roles, ...credentials })
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
    throw new HttpError(409, 'conflict', `There is a user ${name} already.`, { cause: error })
  } finally {
    databases.close()
  }
}
