/** JSON as PocketBase writes it: safe inside HTML, with a line end. */
import { wellFormed } from '../http/well-formed.ts'

const ESCAPED = /[<>&\u2028\u2029]/
const ESCAPED_ALL: RegExp = new RegExp(ESCAPED, 'g')

export function restJson(value: unknown): string {
  const json = wellFormed(JSON.stringify(value))
  if (!ESCAPED.test(json)) return `${json}\n`
  return `${json.replaceAll(ESCAPED_ALL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}
