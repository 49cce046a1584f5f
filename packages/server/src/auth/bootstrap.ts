/** The admins that the operator names at a start. Without a superuser, the link that `pannier serve` shows makes the first one. */
import type { Actor, Backend } from '@pannier/backend'
import { SYSTEM } from '@pannier/backend'
import type { Accounts } from './accounts.ts'

interface AdminHost {
  readonly accounts: Accounts
  readonly backend: Pick<Backend, 'accounts' | 'records'>
}

/** The server itself. */
export const ITSELF: Actor = {
  principal: SYSTEM,
  request: { context: 'default', method: 'POST', query: {}, headers: {} },
}
export const SUPERUSERS = '_superusers'

/** The superusers of a backend in this process: for the option `superuser`, and for commands on a folder. */
export class OwnSuperusers {
  readonly #backend: AdminHost['backend']

  constructor(backend: AdminHost['backend']) {
    this.#backend = backend
  }

  async find(email: string): Promise<string | undefined> {
    const found = await this.#backend.accounts.superuser(email)
    return found === undefined ? undefined : String(found['_id'])
  }

  async create(email: string, password: string): Promise<void> {
    await this.#backend.records.create(ITSELF, SUPERUSERS, { email, ...twice(password) })
  }

  async setPassword(id: string, password: string): Promise<void> {
    await this.#backend.records.update(ITSELF, SUPERUSERS, id, twice(password))
  }

  /** Makes a superuser, or gives one the password. A password that is unchanged keeps sessions alive. @throws ServiceError INVALID */
  async upsert(email: string, password: string): Promise<void> {
    const { accounts } = this.#backend
    const found = await accounts.superuser(email)
    if (found === undefined) await this.create(email, password)
    else if (!(await accounts.passwords.verify(String(found['password']), password)))
      await this.setPassword(String(found['_id']), password)
  }
}

/** A new password, as forms have it. */
export function twice(password: string): { readonly password: string; readonly passwordConfirm: string } {
  return { password, passwordConfirm: password }
}

/** `given`: `email:password`. @throws TypeError for a text of another form; ServiceError INVALID for an address or password that can't be */
export async function ensureSuperuser(given: string, { backend }: AdminHost): Promise<void> {
  await new OwnSuperusers(backend).upsert(...nameAndPassword('superuser', 'email', given))
}

/**
 * Makes the server admin that is given, or gives them the password. A password that is unchanged keeps sessions alive.
 *
 * @param given `name:password`
 * @throws TypeError for a text that is not `name:password`; ServiceError INVALID for a name or password that can't be
 */
export async function ensureCouchAdmin(given: string, { accounts }: AdminHost): Promise<void> {
  const [name, password] = nameAndPassword('couchAdmin', 'name', given)
  const isKnown = (await accounts.adminNames()).includes(name)
  if (!isKnown || (await accounts.verify(name, password)) === undefined) await accounts.setAdmin(name, password)
}

function nameAndPassword(option: string, of: string, given: string): [name: string, password: string] {
  const colon = given.indexOf(':')
  if (colon < 1) throw new TypeError(`createServer(): ${option} must be ${of}:password, got no ${of} or no colon`)
  return [given.slice(0, colon), given.slice(colon + 1)]
}
