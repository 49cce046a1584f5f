/**
 * Finds documents in a stream of JSON without parsing the whole. They are the lines of NDJSON, the elements of an
 * array, or those of `rows` or `docs` of CouchDB's `_all_docs` and `_bulk_docs`.
 *
 * Only `JSON.parse` decides what a document means. The splitter looks at quotes, brackets and commas to know where a
 * document ends, how deep it is and how many members its objects have. All of these are ASCII, so bytes are enough. An
 * element that is not JSON is a document that fails. Malformed text around the documents ends everything. Memory: one
 * document, at most `DOCUMENT_TEXT_BYTES_MAX`.
 */
import { PannierError } from '../base/errors.ts'
import { CLOSE_ARRAY, CLOSE_OBJECT, countMembers, LINE_FEED, Measure, OPEN_ARRAY, OPEN_OBJECT } from './json-measure.ts'
import { DOCUMENT_DEPTH_MAX, DOCUMENT_TEXT_BYTES_MAX } from './document-format.ts'

/** 'rows' and 'docs': as in 'couchdb', found by which of them is there. */
export type JsonLayout = 'lines' | 'array' | 'rows' | 'docs'

/** One document, or what stands instead of one. */
export interface JsonPiece {
  /** The number of the line; 1 for the first. */
  readonly line: number
  /** Length of its text in bytes. */
  readonly bytes: number
  /** The parsed document; if it can't be parsed, `error` says why. */
  readonly value?: unknown
  readonly error?: PannierError
}

/** A row adds one level. One more, so that the check of documents names the limit. */
const DEPTH_MAX: number = DOCUMENT_DEPTH_MAX + 2
/** Bytes before and after the array of an envelope. */
const ENVELOPE_BYTES_MAX = 64 * 1024
/** Fields of an envelope besides the array. An object with other fields is a document. */
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set(['total_rows', 'offset', 'update_seq', 'new_edits', 'pending'])

const [TAB, CARRIAGE_RETURN, SPACE] = [9, 13, 32]

export class JsonSplitter {
  /** Undefined until it is known. */
  layout: JsonLayout | undefined
  readonly #accepted: readonly JsonLayout[]
  /** Bytes that are not done with are those from `#start` to `#end`; those before `#at` were looked at. */
  #buffer: Uint8Array = new Uint8Array(64 * 1024)
  #start = 0
  #at = 0
  #end = 0
  #begun = false
  /** The line at `#at`, and the one where the document under way begins. */
  #line = 1
  #pieceLine = 1
  /** Bytes of it that were dropped because there were too many. */
  #dropped = 0
  #elements = 0
  #measure = new Measure()
  /** Whether it is closed: the array's end was seen. */
  #closed = false
  /** The envelope: the text before the array, with a placeholder for the array. */
  #envelope = ''

  /** `accepted`: the layouts that it may be; the first one counts where there is no telling. */
  constructor(accepted: readonly JsonLayout[] = ['lines', 'array', 'rows', 'docs']) {
    this.#accepted = accepted
    if (accepted.length === 1 && accepted[0] === 'lines') this.layout = 'lines'
  }

  /**
   * The documents that are complete now. Take them all before the next call.
   *
   * @throws PANNIER_FORMAT_WRONG when the text around them is not what it has to be.
   */
  push(chunk: Uint8Array): Iterable<JsonPiece> {
    this.#append(chunk)
    return this.#pieces(false)
  }

  /** The last pieces, at the end of the input. Throws like `push`. */
  end(): Iterable<JsonPiece> {
    return this.#pieces(true)
  }

  *#pieces(last: boolean): Iterable<JsonPiece> {
    if (!this.#begun && !this.#begin(last)) return
    if (this.layout === undefined && !this.#detect(last)) return
    if (this.layout === undefined) return
    if (this.layout === 'lines') yield* this.#lines(last)
    else if (!this.#closed) yield* this.#elementsOf()
    if (this.layout !== 'lines') this.#checkRest(last)
  }

  /** Skips a byte order mark. False: too few bytes to know. */
  #begin(last: boolean): boolean {
    if (this.#end < 3 && !last) return false
    const [a, b, c] = this.#buffer
    if (this.#end >= 3 && a === 0xef && b === 0xbb && c === 0xbf) this.#start = this.#at = 3
    this.#begun = true
    return true
  }

  /** Detects the layout. False: more is needed. */
  #detect(last: boolean): boolean {
    while (this.#at < this.#end && isBlank(this.#buffer[this.#at]!)) {
      if (this.#buffer[this.#at++] === LINE_FEED) this.#line++
    }
    this.#start = this.#at
    if (this.#at === this.#end) {
      if (last && !this.#accepted.includes('lines')) throw this.#wrong('there is nothing in it')
      return false
    }
    const first = this.#buffer[this.#at]!
    if (first === OPEN_ARRAY && this.#accepted.includes('array')) {
      this.#enter('array', this.#at + 1)
      return true
    }
    if (first !== OPEN_OBJECT) throw this.#wrong('it is neither lines nor an array of JSON documents')
    return this.#detectEnvelope(last)
  }

  /** Finds out whether the object that begins here is a document or an envelope. */
  #detectEnvelope(last: boolean): boolean {
    const measure = new Measure()
    const limit = Math.min(this.#end, this.#start + ENVELOPE_BYTES_MAX)
    for (let at = this.#start; ;) {
      at = measure.scanTo(this.#buffer, at, limit)
      if (at === limit) {
        if (!last && limit === this.#end) return false
        break
      }
      if (this.#buffer[at] !== OPEN_ARRAY) break
      const layout = this.#layoutAt(at)
      if (layout === 'document') break
      if (layout !== undefined) {
        if (!this.#accepted.includes(layout)) break
        this.#line += linesIn(this.#buffer, this.#start, at)
        this.#enter(layout, at + 1)
        return true
      }
      at = measure.resume(at)
    }
    if (!this.#accepted.includes('lines')) throw this.#wrong('it is not of the format that it is said to have')
    this.layout = 'lines'
    return true
  }

  /** At the beginning of an array in the outermost object: what the name before it says of the object. */
  #layoutAt(at: number): JsonLayout | 'document' | undefined {
    this.#envelope = `${decodeLossy(this.#buffer.subarray(this.#start, at))}null`
    let names: string[]
    try {
      names = Object.keys(JSON.parse(`${this.#envelope}}`) as object)
    } catch {
      return 'document'
    }
    const name = names.pop()!
    if (!names.every((other) => ENVELOPE_FIELDS.has(other))) return 'document'
    if (name === 'rows' || name === 'docs') return name
    return ENVELOPE_FIELDS.has(name) ? undefined : 'document'
  }

  #enter(layout: JsonLayout, at: number): void {
    this.layout = layout
    this.#start = this.#at = at
    this.#pieceLine = this.#line
  }

  *#lines(last: boolean): Iterable<JsonPiece> {
    for (;;) {
      const found = this.#buffer.subarray(this.#at, this.#end).indexOf(LINE_FEED)
      if (found < 0 && !last) {
        this.#at = this.#end
        this.#dropIfTooLong()
        return
      }
      const at = found < 0 ? this.#end : this.#at + found
      this.#pieceLine = this.#line
      if (this.#dropped > 0 || !isBlankBetween(this.#buffer, this.#start, at)) {
        const measure = new Measure()
        measure.scan(this.#buffer, this.#start, at)
        yield this.#piece(at, measure)
      }
      this.#dropped = 0
      this.#start = this.#at = Math.min(at + 1, this.#end)
      if (found < 0) return
      this.#line++
    }
  }

  *#elementsOf(): Iterable<JsonPiece> {
    for (;;) {
      if (this.#at === this.#start && this.#dropped === 0) this.#skipBlanks()
      const measure = this.#measure
      const at = measure.scan(this.#buffer, this.#at, this.#end)
      this.#line += measure.takeLines()
      this.#at = at
      if (at === this.#end) {
        this.#dropIfTooLong()
        return
      }
      const closing = this.#buffer[at]!
      if (closing === CLOSE_OBJECT) throw this.#wrong('its brackets do not match')
      const empty = this.#dropped === 0 && at === this.#start
      if (!(empty && closing === CLOSE_ARRAY && this.#elements === 0)) {
        this.#elements++
        yield this.#piece(at, measure)
      }
      this.#dropped = 0
      this.#measure = new Measure()
      this.#start = this.#at = at + 1
      if (closing === CLOSE_ARRAY) {
        this.#closed = true
        return
      }
    }
  }

  #skipBlanks(): void {
    while (this.#at < this.#end && isBlank(this.#buffer[this.#at]!)) {
      if (this.#buffer[this.#at++] === LINE_FEED) this.#line++
    }
    this.#start = this.#at
    this.#pieceLine = this.#line
  }

  /** The document under way, which ends before `at`. */
  #piece(at: number, { members, deepest }: Measure): JsonPiece {
    const line = this.#pieceLine
    const bytes = this.#dropped + at - this.#start
    const failed = (
      code: 'PANNIER_DOCUMENT_TOO_LARGE' | 'PANNIER_DOCUMENT_TOO_DEEP' | 'PANNIER_DOCUMENT_INVALID',
      what: string,
      cause?: unknown,
    ): JsonPiece => ({
      line,
      bytes,
      error: new PannierError(code, what, cause === undefined ? {} : { cause }),
    })
    if (bytes > DOCUMENT_TEXT_BYTES_MAX)
      return failed(
        'PANNIER_DOCUMENT_TOO_LARGE',
        `The JSON of a document has more than ${DOCUMENT_TEXT_BYTES_MAX} bytes.`,
      )
    if (deepest > DEPTH_MAX)
      return failed(
        'PANNIER_DOCUMENT_TOO_DEEP',
        `A document has more than ${DOCUMENT_DEPTH_MAX} objects and arrays inside one another.`,
      )
    try {
      const value: unknown = JSON.parse(decoder.decode(this.#buffer.subarray(this.#start, at)))
      // A parser keeps one of two members with the same name, and not all keep the same one.
      if (countMembers(value) !== members) return failed('PANNIER_DOCUMENT_INVALID', 'An object has a name twice.')
      return { line, bytes, value }
    } catch (cause) {
      return failed('PANNIER_DOCUMENT_INVALID', `This is not JSON in UTF-8: ${(cause as Error).message}`, cause)
    }
  }

  #dropIfTooLong(): void {
    if (this.#dropped + this.#at - this.#start <= DOCUMENT_TEXT_BYTES_MAX) return
    this.#dropped += this.#at - this.#start
    this.#start = this.#at
  }

  /** Checks the text after the array. */
  #checkRest(last: boolean): void {
    if (!this.#closed) {
      if (last) throw this.#wrong('it ends in the midst')
      return
    }
    const rest = this.#buffer.subarray(this.#start, this.#end)
    if (rest.length > ENVELOPE_BYTES_MAX) throw this.#wrong('too much follows the documents')
    if (!last) return
    const text = decodeLossy(rest)
    if (this.layout === 'array') {
      if (!isBlankBetween(rest, 0, rest.length)) throw this.#wrong('something follows the documents')
      return
    }
    const whole = new TextEncoder().encode(this.#envelope + text)
    const measure = new Measure()
    measure.scan(whole, 0, whole.length)
    try {
      if (countMembers(JSON.parse(this.#envelope + text)) === measure.members) return
    } catch (cause) {
      throw this.#wrong('what follows the documents is not JSON', cause)
    }
    throw this.#wrong('an object has a name twice')
  }

  #append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) {
      const kept = this.#end - this.#start
      const target =
        kept + chunk.length > this.#buffer.length / 2
          ? new Uint8Array(Math.max(this.#buffer.length * 2, (kept + chunk.length) * 2))
          : this.#buffer
      target.set(this.#buffer.subarray(this.#start, this.#end))
      this.#buffer = target
      this.#at -= this.#start
      this.#end = kept
      this.#start = 0
    }
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
  }

  #wrong(what: string, cause?: unknown): PannierError {
    const details = { line: this.#line }
    const message = `This is no source of documents, from line ${this.#line} on: ${what}.`
    return new PannierError('PANNIER_FORMAT_WRONG', message, cause === undefined ? { details } : { details, cause })
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lossyDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

function decodeLossy(bytes: Uint8Array): string {
  return lossyDecoder.decode(bytes)
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB
}

function isBlankBetween(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isBlank(bytes[at]!)) return false
  return true
}

function linesIn(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0
  for (let at = from; at < to; at++) if (bytes[at] === LINE_FEED) lines++
  return lines
}
