/** There is no server without an admin: the first start makes one, with a password that is shown once, or the one that was given. */
import { randomBytes } from 'node:crypto'
import type { Accounts } from './accounts.ts'

/** An admin that the first start made. */
export interface NewAdmin {
  /** The name of the admin. */
  readonly name: string
  /** To be shown once; it is stored nowhere. */
  readonly password: string
}

const FIRST_ADMIN_NAME = 'admin'

/**
 * Makes the first admin if no admin exists. `given`: `name:password` of an admin, who is made in any case. Returns the
 * admin whose password was made here.
 *
 * @throws TypeError for a text that is no `name:password`; ServiceError INVALID for a password that is too short
 */
export async function ensureAdmin(accounts: Accounts, given?: string): Promise<NewAdmin | undefined> {
  if (given !== undefined) {
    const colon = given.indexOf(':')
    if (colon < 1) throw new TypeError('createServer(): admin must be name:password, got no name or no colon')
    const [name, password] = [given.slice(0, colon), given.slice(colon + 1)]
    // Its sessions go on if nothing changes.
    const known = (await accounts.adminNames()).includes(name)
    if (!known || (await accounts.verify(name, password)) === undefined) await accounts.setAdmin(name, password)
    return undefined
  }
  if ((await accounts.adminNames()).length > 0) return undefined
  const admin = { name: FIRST_ADMIN_NAME, password: randomBytes(18).toString('base64url') }
  await accounts.setAdmin(admin.name, admin.password)
  return admin
}
