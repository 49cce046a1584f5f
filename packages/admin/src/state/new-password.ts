/** A password that nobody has to think of. */
import type { Environment } from '../environment.ts'

/** The 32 signs of passwords, none like another one: `LENGTH` of them have 100 bits. */
const SIGNS = 'abcdefghijkmnpqrstuvwxyz23456789'
const LENGTH = 20

export function newPassword({ randomBytes }: Pick<Environment, 'randomBytes'>): string {
  return [...randomBytes(LENGTH)].map((byte) => SIGNS[byte % SIGNS.length]).join('')
}
