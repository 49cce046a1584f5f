/**
 * What goes over the wire is well-formed: half of a surrogate pair, which may have come into a database otherwise than over HTTP, would
 * be an answer that CouchDB's parser refuses as a whole.
 */

/** Also JSON.stringify writes such a half as an escape; a backslash that is escaped itself is none. */
const ESCAPES = /\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g

/** JSON as JSON.stringify makes it, with U+FFFD for each half. */
export function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  return json.replaceAll(ESCAPES, (escape, half?: string) => (half === undefined ? escape : '\ufffd'))
}
