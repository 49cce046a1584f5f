/**
 * Ensures that a server has an admin. The first start makes one, with a given password or with one that is shown once.
 */
import { randomBytes } from 'node:crypto'
import type { Accounts } from './accounts.ts'

/** An admin that the first start made. */
export interface NewAdmin {
  /** The name of the admin. */
  readonly name: string
  /** Show it once; it is not stored. */
  readonly password: string
}

const FIRST_ADMIN_NAME = 'admin'

/**
 * Makes the first admin if no admin exists. Returns the admin whose password was made here.
 *
 * @param given `name:password` of an admin to make in any case
 * @throws TypeError for a text that is not `name:password`; ServiceError INVALID for a password that is too short
 */
export async function ensureAdmin(accounts: Accounts, given?: string): Promise<NewAdmin | undefined> {
  if (given !== undefined) {
    const colon = given.indexOf(':')
    if (colon < 1) throw new TypeError('createServer(): admin must be name:password, got no name or no colon')
    const [name, password] = [given.slice(0, colon), given.slice(colon + 1)]
    // An unchanged password keeps the admin's sessions alive.
    const known = (await accounts.adminNames()).includes(name)
    if (!known || (await accounts.verify(name, password)) === undefined) await accounts.setAdmin(name, password)
    return undefined
  }
  if ((await accounts.adminNames()).length > 0) return undefined
  const admin = { name: FIRST_ADMIN_NAME, password: randomBytes(18).toString('base64url') }
  await accounts.setAdmin(admin.name, admin.password)
  return admin
}
