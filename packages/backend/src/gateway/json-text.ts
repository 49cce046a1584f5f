/**
 * Text of JSON as it leaves the server, and its size: without half surrogate pairs, and as PocketBase writes it, safe inside HTML. Large JSON leaves in
 * pieces: no answer stops the others while its text is made, or holds all of its text.
 */

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

/** Safe JSON as text, in place of the value. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON that is safe inside HTML. */
export function safeJson(value: unknown): string {
  if (value instanceof JsonText) return value.text
  const json = wellFormed(JSON.stringify(value))
  if (!UNSAFE.test(json)) return json
  return json.replaceAll(UNSAFE_ALL, (char) => SAFE.get(char)!)
}

/** Characters of a value whose text is made at once. */
const PIECE_CHARS: number = 64 * 1024
/** Characters of an answer that is sent as one text. */
export const WHOLE_CHARS: number = 256 * 1024

/** Whether JSON is so large that it is sent in pieces. */
export function isLargeJson(value: unknown): boolean {
  return !(value instanceof JsonText) && jsonSize(value, WHOLE_CHARS) > WHOLE_CHARS
}

/** The text that `safeJson` makes, of values that JSON has. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || jsonSize(value, PIECE_CHARS) <= PIECE_CHARS) {
    yield safeJson(value ?? null)
    return
  }
  let before = ''
  if (Array.isArray(value)) {
    yield '['
    for (const item of value) {
      yield before
      yield* jsonPieces(item)
      before = ','
    }
    yield ']'
    return
  }
  yield '{'
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    yield `${before}${safeJson(key)}:`
    yield* jsonPieces(item)
    before = ','
  }
  yield '}'
}

/** The size of JSON in characters, about. It stops counting beyond `most`. */
export function jsonSize(value: unknown, most: number = Infinity): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 6
  let size = 2
  if (Array.isArray(value))
    for (const item of value) {
      if (size > most) break
      size += 1 + jsonSize(item, most - size)
    }
  else
    for (const key in value) {
      if (size > most) break
      size += key.length + 4 + jsonSize((value as Readonly<Record<string, unknown>>)[key], most - size)
    }
  return size
}
