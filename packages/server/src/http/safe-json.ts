/** Text of JSON as it leaves the server: without half surrogate pairs, and as PocketBase writes it, safe inside HTML. */

/** JSON.stringify writes half a surrogate pair as an escape. An escaped backslash starts no escape. */
const ESCAPES = /\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g
const UNSAFE = /[<>&\u2028\u2029]/
const UNSAFE_ALL: RegExp = new RegExp(UNSAFE, 'g')
const SAFE: ReadonlyMap<string, string> = new Map(
  Array.from('<>&\u2028\u2029', (char) => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`]),
)

/**
 * JSON as JSON.stringify makes it, with U+FFFD for each half of a surrogate pair. Such a half may have come into a database by other ways
 * than HTTP, and CouchDB's parser refuses a whole answer with one.
 */
export function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  return json.replaceAll(ESCAPES, (escape, half?: string) => (half === undefined ? escape : '\ufffd'))
}

export function safeJson(value: unknown): string {
  const json = wellFormed(JSON.stringify(value))
  if (!UNSAFE.test(json)) return json
  return json.replaceAll(UNSAFE_ALL, (char) => SAFE.get(char)!)
}
