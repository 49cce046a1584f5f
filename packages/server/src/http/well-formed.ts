/**
 * Replaces half surrogate pairs in outgoing text. They may have come into a database by other ways than HTTP, and
 * CouchDB's parser refuses a whole answer with one.
 */

/** JSON.stringify writes such a half as an escape. An escaped backslash starts no escape. */
const ESCAPES = /\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g

/** JSON as JSON.stringify makes it, with U+FFFD for each half. */
export function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  return json.replaceAll(ESCAPES, (escape, half?: string) => (half === undefined ? escape : '\ufffd'))
}
