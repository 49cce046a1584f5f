/** Large JSON in pieces: no answer stops the others while its text is made, or holds all of its text. */
import { jsonSize } from '@pannier/backend/internal'
import { safeJson } from './safe-json.ts'

/** Characters of a value whose text is made at once. */
const PIECE_CHARS: number = 64 * 1024
/** Characters of an answer that is sent as one text. */
const WHOLE_CHARS: number = 256 * 1024

export function isLargeJson(value: unknown): boolean {
  return jsonSize(value, WHOLE_CHARS) > WHOLE_CHARS
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
