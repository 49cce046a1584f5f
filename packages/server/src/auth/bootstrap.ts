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

/**
 * Makes the superuser that is given, or gives them the password. A password that is unchanged keeps sessions alive.
 *
 * @param given `email:password`
 * @throws TypeError for a text that is not `email:password`; ServiceError INVALID for an address or password that can't be
 */
export async function ensureSuperuser(given: string, { backend }: AdminHost): Promise<void> {
  const { accounts, records } = backend
  const [email, password] = nameAndPassword('superuser', 'email', given)
  const found = await accounts.superuser(email)
  const secret = { password, passwordConfirm: password }
  if (found === undefined) await records.create(ITSELF, SUPERUSERS, { email, ...secret })
  else if (!(await accounts.passwords.verify(String(found['password']), password)))
    await records.update(ITSELF, SUPERUSERS, String(found['_id']), secret)
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
