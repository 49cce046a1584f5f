/**
 * Reads a document in multipart/related: JSON, then the attachments that it announces. They are streamed into the
 * database. Each is compared with its announced length and digest before anything is committed.
 */
import { isObject } from 'pannier/internal'
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { dispositionNames } from '../http/content-disposition.ts'
import type { Hold } from '../http/held-bodies.ts'
import { badRequest, HttpError, tooLarge } from '../http/http-error.ts'
import type { MultipartPart, MultipartReader } from '../http/multipart-reader.ts'
import { parseJson } from '../http/strict-json.ts'
import { checkRatio } from '../http/request-body.ts'
import type { JsonObject } from '@pannier/backend/internal'

interface RelatedLimits {
  /** Bytes of the document in JSON. */
  readonly documentBytesMax: number
  /** Bytes of an attachment, unpacked. */
  readonly attachmentBytesMax: number
}

/** Attachments that come in another order than the document names them in wait in memory. */
const WAITING_BYTES_MAX: number = 16 * 1024 * 1024

/** The document, whose attachments that follow have `data` that reads on. */
export async function relatedDocument(reader: MultipartReader, limits: RelatedLimits, hold: Hold): Promise<JsonObject> {
  const first = await reader.next()
  if (first === undefined) throw badRequest('The multipart body has no parts.')
  const text = await whole(first.body, limits.documentBytesMax, (bytes) => hold.to(bytes))
  const document = parseJson(text)
  if (!isObject(document)) throw badRequest('Document must be a JSON object')
  const { _attachments } = document
  if (!isObject(_attachments)) return document
  const names = Object.keys(_attachments).filter((name) => follows(_attachments[name]))
  const parts = new FollowingParts(reader, names, (bytes) => hold.to(text.length + bytes))
  const attachments: JsonObject = { ..._attachments }
  for (const name of names) {
    const { follows: _, ...rest } = _attachments[name] as JsonObject
    attachments[name] = { ...rest, data: content(parts, name, rest, limits.attachmentBytesMax) }
  }
  return { ...document, _attachments: attachments }
}

function follows(attachment: unknown): boolean {
  return isObject(attachment) && attachment['follows'] === true
}

/** The parts after the document, by name of the attachment. */
class FollowingParts {
  readonly #reader: MultipartReader
  readonly #holds: (bytes: number) => void
  /** Names of the parts that are still to come. A part without a name is the first of them. */
  readonly #names: Set<string>
  readonly #waiting = new Map<string, Uint8Array>()
  #waitingBytes = 0

  constructor(reader: MultipartReader, names: readonly string[], holds: (bytes: number) => void) {
    this.#reader = reader
    this.#holds = holds
    this.#names = new Set(names)
  }

  async *content(name: string): AsyncGenerator<Uint8Array> {
    const waiting = this.#waiting.get(name)
    if (waiting !== undefined) {
      this.#waiting.delete(name)
      yield waiting
      return
    }
    for (;;) {
      const part = await this.#reader.next()
      if (part === undefined) throw badRequest(`The attachment '${name}' does not follow.`)
      const own = this.#nameOf(part)
      this.#names.delete(own)
      if (own === name) {
        yield* part.body
        return
      }
      const before = this.#waitingBytes
      const bytes = await whole(part.body, WAITING_BYTES_MAX - before, (more) => this.#holds(before + more))
      this.#waitingBytes += bytes.length
      this.#waiting.set(own, bytes)
    }
  }

  /**
   * Parts come in the order of the document. A name counts where it is one of those that are still to come, and may be written otherwise:
   * CouchDB escapes nothing, others replace what they can't write. The length and the digest are compared anyway.
   */
  #nameOf({ headers }: MultipartPart): string {
    const [next] = this.#names
    if (next === undefined) throw badRequest('A part is of no attachment of the document.')
    const names = dispositionNames(headers.get('content-disposition') ?? '')
    if (names.includes(next)) return next
    return names.find((name) => this.#names.has(name)) ?? next
  }
}

function content(
  parts: FollowingParts,
  name: string,
  { encoding, digest, length, encoded_length }: JsonObject,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  const expected = { digest, length: encoding === 'gzip' ? encoded_length : length, name }
  return decodedContent(verified(parts.content(name), expected), name, encoding, bytesMax)
}

/**
 * The content to store, decoded from this `encoding`.
 *
 * @throws (the iteration) HttpError 400, 413
 */
export async function* decodedContent(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  encoding: unknown,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of encoding === 'gzip' ? unpacked(pieces) : pieces) {
    bytes += piece.length
    if (bytes > bytesMax) throw tooLarge(`The attachment '${name}' is too large: at most ${bytesMax} bytes are taken`)
    yield piece
  }
}

async function* verified(
  pieces: AsyncIterable<Uint8Array>,
  expected: { readonly digest: unknown; readonly length: unknown; readonly name: string },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('md5')
  let length = 0
  for await (const piece of pieces) {
    hash.update(piece)
    length += piece.length
    yield piece
  }
  if (typeof expected.length === 'number' && expected.length !== length)
    throw badRequest(`The attachment '${expected.name}' has ${length} bytes, not ${expected.length}.`)
  checkDigest(hash, expected.digest)
}

/** @throws HttpError 400 if `digest` is an MD5 that is not this one */
export function checkDigest(hash: Hash, digest: unknown): void {
  if (typeof digest !== 'string' || !digest.startsWith('md5-')) return
  if (digest.slice('md5-'.length) !== hash.digest('base64'))
    throw new HttpError(400, 'content_md5_mismatch', 'Possible message corruption.')
}

async function* unpacked(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  // The reader gets the error.
  pipeline(Readable.from(pieces), gunzip, () => {})
  try {
    let bytes = 0
    for await (const piece of gunzip as AsyncIterable<Uint8Array>) {
      checkRatio(gunzip, (bytes += piece.length))
      yield piece
    }
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('Z_'))
      throw badRequest('An attachment is not valid gzip.')
    throw error
  }
}

async function whole(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
  holds: (bytes: number) => void,
): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > bytesMax) throw tooLarge('A part of the request is too large.')
    holds(length)
    all.push(piece)
  }
  return Buffer.concat(all)
}
