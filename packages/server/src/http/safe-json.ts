/** JSON as PocketBase writes it: safe inside HTML. */
import { wellFormed } from './well-formed.ts'

const ESCAPED = /[<>&\u2028\u2029]/
const ESCAPED_ALL: RegExp = new RegExp(ESCAPED, 'g')

export function safeJson(value: unknown): string {
  const json = wellFormed(JSON.stringify(value))
  if (!ESCAPED.test(json)) return json
  return json.replaceAll(ESCAPED_ALL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
