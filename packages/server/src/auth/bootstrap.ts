/** The admin that the operator names at a start. Without one, the first superuser is made by the link that `pannier serve` shows. */
import type { Actor, Backend } from '@pannier/backend'
import { SYSTEM } from '@pannier/backend'
import type { Passwords } from '@pannier/backend/internal'
import type { Accounts } from './accounts.ts'

interface AdminHost {
  readonly accounts: Accounts
  readonly backend: Pick<Backend, 'accounts' | 'records'>
  readonly passwords: Passwords
}

/** The server itself. */
export const ITSELF: Actor = {
  principal: SYSTEM,
  request: { context: 'default', method: 'POST', query: {}, headers: {} },
}
export const SUPERUSERS = '_superusers'

/**
 * Makes the admin that is given, or gives them the password. An e-mail address is a superuser; any other name is a server admin, who is
 * known at CouchDB's door alone. A password that is unchanged keeps sessions alive.
 *
 * @param given `name:password`
 * @throws TypeError for a text that is not `name:password`; ServiceError INVALID for a name or password that can't be
 */
export async function ensureAdmin(given: string, { accounts, backend, passwords }: AdminHost): Promise<void> {
  const colon = given.indexOf(':')
  if (colon < 1) throw new TypeError('createServer(): admin must be name:password, got no name or no colon')
  const [name, password] = [given.slice(0, colon), given.slice(colon + 1)]
  if (name.includes('@')) return ensureSuperuser(backend, passwords, name, password)
  const isKnown = (await accounts.adminNames()).includes(name)
  if (!isKnown || (await accounts.verify(name, password)) === undefined) await accounts.setAdmin(name, password)
}

async function ensureSuperuser(
  { accounts, records }: AdminHost['backend'],
  passwords: Passwords,
  email: string,
  password: string,
): Promise<void> {
  const found = await accounts.superuser(email)
  const secret = { password, passwordConfirm: password }
  if (found === undefined) await records.create(ITSELF, SUPERUSERS, { email, ...secret })
  else if (!(await passwords.verify(String(found['password']), password)))
    await records.update(ITSELF, SUPERUSERS, String(found['_id']), secret)
}
