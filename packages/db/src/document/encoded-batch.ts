/**
 * The documents of one write, encoded when the write is called, not when it has the lease. So later changes of the
 * caller's objects have no effect, bad documents are refused at once, and the lease is short.
 *
 * Encoded content refers to shapes by id, and new shapes get their ids from a guess of what the collection's dictionary will
 * be. When the write runs and the guess was wrong (another tab added other shapes), the batch is encoded again from its own bytes.
 */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { ArgumentError } from '../base/options.ts'
import { ByteWriter } from '../codec/bytes.ts'
import { checkPlainObject } from '../codec/collation.ts'
import { decodeDocument } from '../codec/decode-document.ts'
import { encodeDocument, isReserved } from '../codec/encode-document.ts'
import { ShapeDictionary, type Shape } from '../codec/shape.ts'
import { BODY_HEADER_BYTES_MAX } from './body.ts'
import type { CollectionState } from './catalog.ts'
import { checkId } from './document-id.ts'
import { DocumentWrite } from './document-write.ts'
import { parseHistory } from './revision.ts'

/** Documents in one write. They are one commit, and encoded in memory. */
export const BATCH_DOCUMENTS_MAX = 1_000_000

/** The dictionary to which ids of shapes in encoded content refer. */
export interface ShapeGuess {
  /** The collection whose dictionary `base` is; undefined if there was none. */
  readonly collectionNumber: number | undefined
  readonly base: ShapeDictionary
  /** False if `base` may be rolled back. */
  readonly committed: boolean
  /** `base` and what the documents added. */
  readonly shapes: ShapeDictionary
}

/** `state`: what is known of the collection, undefined if nothing is. */
export function guessShapes(state: CollectionState | undefined, committed: boolean): ShapeGuess {
  const base = state?.shapes ?? new ShapeDictionary()
  return { collectionNumber: state?.number, base, committed, shapes: base.fork() }
}

export class EncodedBatch {
  readonly writes: readonly DocumentWrite[]
  #guess: ShapeGuess

  constructor(writes: readonly DocumentWrite[], guess: ShapeGuess) {
    this.writes = writes
    this.#guess = guess
  }

  /** The dictionary to which the content refers. */
  get shapes(): ShapeDictionary {
    return this.#guess.shapes
  }

  /** A part of it. */
  only(writes: readonly DocumentWrite[]): EncodedBatch {
    return new EncodedBatch(writes, this.#guess)
  }

  /** Makes the batch fit the collection as it is now. Returns the shapes that the collection lacks. */
  matchShapes(state: CollectionState): Shape[] {
    const missing = missingShapes(this.#guess, state)
    if (missing !== undefined) return missing
    const before = this.#guess.shapes
    this.#guess = guessShapes(state, false)
    const writes = this.writes.filter(({ error }) => error === undefined)
    const contents = writes.map(({ bytes, contentStart, contentEnd }) =>
      contentStart === contentEnd ? NO_CONTENT : decodeDocument(bytes, contentStart, contentEnd, before),
    )
    encodeContents(writes, contents, this.#guess.shapes, true)
    return [...this.#guess.shapes.added]
  }
}

interface EncodeOptions {
  /** Whether it is replicated. The revisions were made elsewhere: they have a `_rev`, and perhaps `_revisions`. */
  readonly replicated?: boolean
  /** False: a document that exceeds a limit does not keep the others from being written. */
  readonly atomic?: boolean
}

/**
 * Encodes what a caller handed in; throws a TypeError, or a PannierError for what exceeds a limit. A document without an
 * `_id` gets one from `newId`.
 */
export function encodeBatch(
  inputs: readonly unknown[],
  guess: ShapeGuess,
  newId: () => string,
  { replicated = false, atomic = true }: EncodeOptions = {},
): EncodedBatch {
  checkBatchSize(inputs.length)
  const writes = inputs.map((input) => checkDocument(input, newId, replicated, atomic))
  encodeContents(writes, inputs as readonly object[], guess.shapes, atomic)
  return new EncodedBatch(writes, guess)
}

export function checkBatchSize(count: number): void {
  if (count > BATCH_DOCUMENTS_MAX) {
    throw new PannierError(
      'PANNIER_BATCH_TOO_LARGE',
      `A write takes at most ${BATCH_DOCUMENTS_MAX} documents, got ${count}.`,
    )
  }
}

/** Undefined if an id has another meaning in the collection's dictionary than in the guess. */
function missingShapes(guess: ShapeGuess, state: CollectionState): Shape[] | undefined {
  const { base, committed, collectionNumber, shapes } = guess
  if (base !== state.shapes && base.byId.length > 0) {
    // Shapes that were committed stay what they are as long as the collection exists.
    if (!committed || (collectionNumber !== undefined && collectionNumber !== state.number)) return undefined
  }
  const missing = shapes.added.filter((shape) => state.shapes.find(shape.names)?.id !== shape.id)
  if (missing.length === 0) return missing
  const joined = state.shapes.fork()
  for (const { id, encoded } of missing) joined.add(id, encoded)
  return missing.every(({ id, names }) => joined.find(names)?.id === id) ? missing : undefined
}

/** A document that a schema has refused. It stays in its place in the batch, with the reason. */
function refusedDocument(error: PannierError): DocumentWrite {
  const id = error.details?.['id']
  const write = new DocumentWrite(typeof id === 'string' ? id : '', '' as Key, undefined, false)
  write.error = error
  return write
}

function checkDocument(input: unknown, newId: () => string, replicated: boolean, atomic: boolean): DocumentWrite {
  if (input instanceof PannierError) return refusedDocument(input)
  checkPlainObject(input)
  let isPlain = !replicated
  for (const name in input) {
    if (!isReserved(name) || name === '_id' || !Object.hasOwn(input, name)) continue
    if (!META_FIELDS.has(name)) throw new ArgumentError(`the name of a field must not start with '_'`, name)
    isPlain = false
  }
  const { _id = newId() } = input
  // Most documents of large batches have nothing of all this.
  if (isPlain && atomic) return new DocumentWrite(_id as string, checkId(_id), undefined, false)
  const { _rev, _deleted = false, _revisions, _attachments } = input
  if (_rev !== undefined && typeof _rev !== 'string') throw new ArgumentError('_rev must be a string', _rev)
  if (typeof _deleted !== 'boolean') throw new ArgumentError('_deleted must be a boolean', _deleted)
  const path = replicated ? parseHistory(_rev, _revisions) : undefined
  try {
    const write = new DocumentWrite(_id as string, checkId(_id), _rev, _deleted, path)
    write.attachmentInputs = _attachments
    return write
  } catch (error) {
    if (atomic || !(error instanceof PannierError)) throw error
    const write = new DocumentWrite(_id as string, '' as Key, _rev, _deleted, path)
    write.error = error
    return write
  }
}

/** Fields that a document may have beside its content. Those after `_revisions` come from reads, here or of CouchDB, and mean nothing. */
const META_FIELDS: ReadonlySet<string> = new Set([
  '_id',
  '_rev',
  '_deleted',
  '_attachments',
  '_revisions',
  '_revsInfo',
  '_revs_info',
  '_conflicts',
  '_deletedConflicts',
  '_deleted_conflicts',
  '_local_seq',
])
const NO_CONTENT: object = {}

/**
 * Bytes that are collected before they are copied to where they stay. Single documents stay where they are encoded, one behind
 * the other: a buffer for each takes browsers longer than to fill it.
 */
const CHUNK_BYTES = 256 * 1024

let idle: ByteWriter | undefined

function encodeContents(
  writes: readonly DocumentWrite[],
  contents: readonly object[],
  shapes: ShapeDictionary,
  atomic: boolean,
): void {
  // Encoding may run anybody's code (toJSON), and that may write documents itself.
  const isSingle = writes.length === 1
  const isRoomLeft = idle !== undefined && idle.length < (isSingle ? CHUNK_BYTES / 2 : 1)
  const writer = isRoomLeft ? idle! : new ByteWriter(CHUNK_BYTES)
  idle = undefined
  let chunkStart = 0
  for (let at = 0; at < writes.length; at++) {
    const write = writes[at]!
    const start = writer.length
    try {
      writeId(writer, write)
      if (!write.deleted || hasContent(contents[at]!)) encodeDocument(contents[at]!, shapes, writer)
      write.contentEnd = writer.length
    } catch (error) {
      if (atomic || !(error instanceof PannierError)) throw error
      write.error ??= error
      writer.length = start
    }
    if (writer.length < CHUNK_BYTES && at < writes.length - 1) continue
    const hasGrown = writer.bytes.length > CHUNK_BYTES
    const chunk = isSingle && !hasGrown ? writer.bytes : writer.finish()
    while (chunkStart <= at) writes[chunkStart++]!.bytes = chunk
    if (!isSingle) writer.length = 0
  }
  // A huge document must not keep its room for ever.
  if (writer.bytes.length === CHUNK_BYTES) idle = writer
}

/** A tombstone without fields has no content at all, so that it is the same whoever makes it. */
function hasContent(document: object): boolean {
  for (const name in document) if (!isReserved(name) && Object.hasOwn(document, name)) return true
  return false
}

/** Room for the header, then the id. */
function writeId(writer: ByteWriter, write: DocumentWrite): void {
  const { key } = write
  writer.reserve(BODY_HEADER_BYTES_MAX)
  writer.length += BODY_HEADER_BYTES_MAX
  write.idStart = writer.length
  writer.varint(key.length)
  writer.byteString(key)
  write.contentStart = writer.length
}

/** A tombstone; with `revision` that of this leaf. */
export function encodeTombstone(id: string, key: Key, revision?: string): DocumentWrite {
  const write = new DocumentWrite(id, key, revision, true)
  const writer = new ByteWriter(BODY_HEADER_BYTES_MAX + 2 + key.length)
  writeId(writer, write)
  write.contentEnd = write.contentStart
  write.bytes = writer.bytes
  return write
}

/** A document to be deleted; with `revision` only that leaf of it. */
export interface DeleteTarget {
  readonly id: string
  readonly key: Key
  readonly revision: string | undefined
}

/** Checks what a caller wants to have deleted: an id or a document (with or without `_rev`). */
export function checkTargets(inputs: readonly unknown[]): DeleteTarget[] {
  checkBatchSize(inputs.length)
  return inputs.map((input) => {
    const { _id, _rev } = (typeof input === 'object' && input !== null ? input : { _id: input }) as Record<
      string,
      unknown
    >
    if (_rev !== undefined && typeof _rev !== 'string') throw new ArgumentError('_rev must be a string', _rev)
    const key = checkId(_id)
    return { id: _id as string, key, revision: _rev }
  })
}
