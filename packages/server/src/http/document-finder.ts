/**
 * Finds documents in a JSON body that comes in pieces, and inline attachments in them, so that neither has to be in
 * memory with the others. It looks only at structure. The strict parser (strict-json.ts) then reads what was found and
 * the rest, so a wrong guess about malformed JSON ends as a refusal.
 */
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './strict-json.ts'

interface ByteSpan {
  /** Offset from the start of the body. */
  readonly start: number
  readonly end: number
}

/** The base64 of one attachment, between its quotes. */
export interface InlineContent extends ByteSpan {
  readonly name: string
}

export interface DocumentPlace extends ByteSpan {
  /** Index in the list of documents. */
  readonly index: number
  /** The document's own `_id` and `_rev`, for answers about a document that can't be read. */
  readonly id: string | undefined
  readonly rev: string | undefined
  /** Long ones, in their order; undefined: none. */
  readonly contents: readonly InlineContent[] | undefined
}

/** The body is one document, or an object whose member `docs` is a list of them. */
export type DocumentsIn = 'body' | 'docs'

/** Shorter content stays in its document. */
const CONTENT_BYTES_MIN: number = 64 * 1024
/** Longer names can't match. The name of an attachment has at most 1,024 bytes, and each may be escaped. */
const NAME_BYTES_MAX = 8192

export class DocumentFinder {
  /** The documents in their order, without elements that are not objects. */
  readonly documents: DocumentPlace[] = []
  /** Bytes that are in no document. */
  aroundBytes = 0
  readonly #around: Uint8Array[] = []
  /** Containers around a document. */
  readonly #outside: number
  /** Bytes that came before the piece that is looked at. */
  #offset = 0
  #depth = 0
  #text: { readonly start: number; pieces: Buffer[]; length: number } | undefined
  /** The text that ended last is behind a backslash of an odd number: the next byte is escaped. */
  #isEscaped = false
  #lastText: Buffer = NO_BYTES
  #isDocs = false
  #isList = false
  #index = 0
  /** Start of the current document. */
  #start: number | undefined
  #contents: InlineContent[] | undefined
  /** The field whose value is looked at, if it is one that matters. */
  #field: '_id' | '_rev' | '_attachments' | undefined
  #id: string | undefined
  #rev: string | undefined
  #attachment: string | undefined
  #isData = false

  constructor(place: DocumentsIn) {
    this.#outside = place === 'body' ? 0 : 2
    this.#isList = place === 'body'
  }

  push(bytes: Uint8Array): void {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = this.#text === undefined ? 0 : this.#passText(piece, 0)
    let outside = this.#start === undefined ? 0 : undefined
    for (; at < piece.length; at++) {
      switch (piece[at]) {
        case QUOTE:
          this.#text = { start: this.#offset + at + 1, pieces: [], length: 0 }
          at = this.#passText(piece, at + 1) - 1
          break
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#open(this.#offset + at, piece[at] === OPEN_BRACE)
          if (outside === undefined || this.#start === undefined) break
          this.#keep(piece.subarray(outside, at), PLACE)
          outside = undefined
          break
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#close(this.#offset + at + 1)
          if (this.#start === undefined) outside ??= at + 1
          break
        case COMMA:
          this.#comma()
          break
        case COLON:
          this.#colon()
          break
        default:
      }
    }
    if (outside !== undefined) this.#keep(piece.subarray(outside))
    this.#offset += piece.length
  }

  /** The body with `null` instead of each document. */
  around(): Uint8Array {
    return Buffer.concat(this.#around)
  }

  /** Copied: a part would keep its whole piece. */
  #keep(...parts: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(parts)
    this.aroundBytes += bytes.length
    this.#around.push(bytes)
  }

  /** Skips from inside a string to behind its end, or to the end of the piece. */
  #passText(piece: Buffer, from: number): number {
    const end = this.#endOfText(piece, from)
    const text = this.#text!
    const part = piece.subarray(from, end ?? piece.length)
    text.length += part.length
    if (text.length <= NAME_BYTES_MAX) text.pieces.push(part)
    if (end === undefined) return piece.length
    this.#text = undefined
    this.#lastText =
      text.length > NAME_BYTES_MAX ? NO_BYTES : text.pieces.length === 1 ? text.pieces[0]! : Buffer.concat(text.pieces)
    if (this.#level === 1 && this.#field === '_id') this.#id = unescaped(this.#lastText)
    if (this.#level === 1 && this.#field === '_rev') this.#rev = unescaped(this.#lastText)
    const isContent = this.#isData && this.#attachment !== undefined && this.#level === 3
    if (isContent && text.length >= CONTENT_BYTES_MIN) {
      const content = { name: this.#attachment!, start: text.start, end: text.start + text.length }
      ;(this.#contents ??= []).push(content)
    }
    return end + 1
  }

  /** The position of the quote that ends it. */
  #endOfText(piece: Buffer, from: number): number | undefined {
    let begin = from
    for (;;) {
      const quote = piece.indexOf(QUOTE, begin)
      const end = quote === -1 ? piece.length : quote
      let backslashes = 0
      while (end - 1 - backslashes >= begin && piece[end - 1 - backslashes] === BACKSLASH) backslashes++
      // A run of backslashes at the start may continue one of the piece before.
      const isRun = end - backslashes === begin
      const isEscaped = (backslashes + (isRun && this.#isEscaped ? 1 : 0)) % 2 === 1
      this.#isEscaped = quote === -1 && isEscaped
      if (quote === -1) return undefined
      if (!isEscaped) return quote
      begin = quote + 1
    }
  }

  /** Containers inside of the document; 1: among its fields. */
  get #level(): number {
    return this.#start === undefined ? 0 : this.#depth - this.#outside
  }

  #open(at: number, isObject: boolean): void {
    if (this.#start === undefined) {
      if (this.#depth === 1 && this.#outside === 2) this.#isList = this.#isDocs && !isObject
      if (this.#depth === this.#outside && this.#isList && isObject) this.#start = at
    } else if (this.#level === 1) this.#attachment = undefined
    else if (this.#level === 2) this.#isData = false
    this.#depth++
  }

  #close(end: number): void {
    if (this.#depth > 0) this.#depth--
    if (this.#start === undefined || this.#depth !== this.#outside) return
    const place = { start: this.#start, end, index: this.#index, id: this.#id, rev: this.#rev }
    this.documents.push({ ...place, contents: this.#contents })
    this.#start = undefined
    this.#contents = undefined
    this.#field = undefined
    this.#id = undefined
    this.#rev = undefined
  }

  #comma(): void {
    if (this.#start === undefined) {
      if (this.#depth === this.#outside && this.#isList) this.#index++
      else if (this.#depth === 1) this.#isDocs = false
    } else if (this.#level === 1) this.#field = undefined
    else if (this.#level === 2) this.#attachment = undefined
    else if (this.#level === 3) this.#isData = false
  }

  #colon(): void {
    if (this.#start === undefined) {
      if (this.#depth === 1) this.#isDocs = isName(this.#lastText, 'docs')
    } else if (this.#level === 1) this.#field = FIELDS.find((name) => isName(this.#lastText, name))
    else if (this.#level === 2)
      this.#attachment = this.#field === '_attachments' ? unescaped(this.#lastText) : undefined
    else if (this.#level === 3) this.#isData = isName(this.#lastText, 'data')
  }
}

const FIELDS = ['_id', '_rev', '_attachments'] as const
const NO_BYTES: Buffer = Buffer.alloc(0)
const PLACE: Buffer = Buffer.from('null')

function isName(text: Buffer, name: string): boolean {
  return (text.length === name.length || text.includes(BACKSLASH)) && unescaped(text) === name
}

function unescaped(text: Buffer): string {
  try {
    return JSON.parse(`"${text.toString()}"`) as string
  } catch {
    return ''
  }
}
