/**
 * The server's only JSON parser. Besides malformed JSON it refuses bad UTF-8, byte order marks, numbers that are not
 * finite, and half of a surrogate pair, which CouchDB can't read. It refuses names that occur twice in an object,
 * because parsers differ in which one counts (CVE-2017-12635). It refuses too deep nesting and too many members before
 * it builds anything. `__proto__` and the like are plain data.
 */
import { badRequest, documentTooLarge, HttpError } from './http-error.ts'

/** Documents have 200 levels; the rest is for what stands around them. */
const JSON_DEPTH_MAX = 210
/** Members of one object, elements of one array. */
export const JSON_MEMBERS_MAX = 200_000
/** Values of all objects and arrays together, where one that is an object or array itself counts twice: it takes many times its text. */
export const JSON_VALUES_MAX = 1_000_000

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Malformed JSON, or JSON that CouchDB would refuse. */
export class JsonError extends HttpError {
  constructor(reason: string) {
    super(400, 'bad_request', reason)
    this.name = 'JsonError'
  }
}

/** `membersMax`: of the outermost object. @throws JsonError; HttpError 413 for what is too deep or too wide */
export function parseJson(bytes: Uint8Array, membersMax: number = JSON_MEMBERS_MAX): unknown {
  const names = countNames(bytes, membersMax)
  const value = build(decode(bytes))
  if (hasSurrogates(bytes) && !isWellFormed(value)) throw new JsonError('invalid UTF-8 JSON')
  // The parser keeps one of two members with the same name.
  if (names !== countMembers(value)) throw new JsonError('invalid JSON: an object has two members of one name')
  return value
}

/**
 * The members of an object in their order. One name may come several times: CouchDB's replicator asks so for a document
 * that has changed twice. Each value is read as strictly as any JSON, when it is asked for. @throws HttpError 400 if it is no object
 */
export function* parseMembers(bytes: Uint8Array): Generator<[name: string, value: unknown]> {
  // Its bounds.
  countNames(bytes, JSON_MEMBERS_MAX)
  for (const member of splitMembers(bytes)) {
    const one = parseJson(Buffer.concat([OBJECT_START, member, OBJECT_END])) as Record<string, unknown>
    yield* Object.entries(one)
  }
}

const OBJECT_START: Uint8Array = Buffer.from('{')
const OBJECT_END: Uint8Array = Buffer.from('}')

/** The text of each member of an object; one empty text if it has none. */
function splitMembers(bytes: Uint8Array): Uint8Array[] {
  const [start, end] = [bytes.findIndex(isNoSpace), bytes.findLastIndex(isNoSpace)]
  if (bytes[start] !== OPEN_BRACE || bytes[end] !== CLOSE_BRACE) throw badRequest('Request body must be a JSON object')
  const members: Uint8Array[] = []
  let depth = 0
  let from = start + 1
  for (let at = from; at < end; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
    else if (byte === COMMA && depth === 0) {
      members.push(bytes.subarray(from, at))
      from = at + 1
    }
  }
  members.push(bytes.subarray(from, end))
  if (members.length > 1 && members.some((member) => !member.some(isNoSpace))) throw new JsonError('invalid UTF-8 JSON')
  return members
}

function isNoSpace(byte: number): boolean {
  return byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09
}

/** As text; for parameters of URLs. */
export function parseJsonText(text: string, membersMax?: number): unknown {
  return parseJson(Buffer.from(text), membersMax)
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new JsonError('invalid UTF-8 JSON')
  }
}

function build(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new JsonError('invalid UTF-8 JSON')
  }
}

/** Members of each open container. Allocated once, because most values are small. */
const members = new Int32Array(JSON_DEPTH_MAX + 1)

/** Counts the names of members; looks only at structure. The parser finds malformed JSON afterwards. */
function countNames(bytes: Uint8Array, membersMax: number): number {
  members[0] = 0
  let depth = 0
  let names = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at)
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > JSON_DEPTH_MAX) throw documentTooLarge(`JSON is nested deeper than ${JSON_DEPTH_MAX} levels`)
        members[depth] = 0
        values++
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth > 0) depth--
        break
      case COMMA:
        if (++members[depth]! >= JSON_MEMBERS_MAX)
          throw documentTooLarge(`JSON has more than ${JSON_MEMBERS_MAX} members`)
        if (members[1]! >= membersMax) throw new JsonError(`invalid JSON: more than ${membersMax} members`)
        values++
        break
      case COLON:
        names++
        break
      default:
    }
    if (values > JSON_VALUES_MAX)
      throw documentTooLarge(`JSON has more than ${JSON_VALUES_MAX} values, where an object or an array counts twice`)
  }
  return names
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; ; at++) {
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1) return bytes.length
    let backslashes = 0
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    at = quote
  }
}

/** Whether there may be half of a surrogate pair, which is always escaped. */
function hasSurrogates(bytes: Uint8Array): boolean {
  if (bytes.indexOf(BACKSLASH) === -1) return false
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return ESCAPED_SURROGATES.some((escape) => text.includes(escape))
}

const ESCAPED_SURROGATES = ['\\ud', '\\uD']

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  return Object.entries(value).every(([name, inner]) => name.isWellFormed() && isWellFormed(inner))
}

/** Recursive: the depth is known to be small. */
function countMembers(value: unknown): number {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonError('invalid JSON: a number is too large')
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let count = 0
    for (const element of value) count += countMembers(element)
    return count
  }
  const names = Object.keys(value)
  let count = names.length
  for (const name of names) count += countMembers((value as Record<string, unknown>)[name])
  return count
}
