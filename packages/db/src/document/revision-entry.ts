/**
 * An entry of a `revisions` tree: the facts about one revision other than its content.
 *
 *   key     document number, generation (6 bytes each, codec/key-encoding.ts), 0 and 16 bytes or 1 and text: the suffix
 *   value   flags    u8       see below
 *           parent   if flagged: the suffix of the parent, 16 bytes, or (if flagged) varint length and text
 *           body     varint   if flagged: number of the body in `extra`
 *
 * A revision has an entry if its parent is known, if it is a leaf other than the winner, or if it is an ancestor with a
 * kept body; otherwise it has none. The winner's body, in `bodies`, also says whether the winner is deleted.
 */
import type { Key } from '../base/brand.ts'
import { KEY_NUMBER_BYTES, numberKey, putNumber, keyNumber } from '../codec/key-encoding.ts'
import { numberBytes } from './body.ts'
import { isHashSuffix, REVISION_HASH_BYTES, suffixToBytes, type Revision, suffixFromBytes } from './revision.ts'
import { byteStringOf, ByteReader, corruptBytes } from '../codec/bytes.ts'
import type { KeyRange } from '../kv/key-value-store.ts'

export interface RevisionEntry extends Revision {
  /** The suffix of the parent; undefined if that is not known. */
  readonly parent: string | undefined
  /** A leaf other than the winner. */
  readonly leaf: boolean
  /** Known only where there is a body. */
  readonly deleted: boolean
  /** The number of the body in `extra`. */
  readonly body: number | undefined
}

const HAS_PARENT = 1
const PARENT_IS_TEXT = 2
const IS_LEAF = 4
const IS_DELETED = 8
const HAS_BODY = 16
const FLAGS_KNOWN: number = HAS_PARENT | PARENT_IS_TEXT | IS_LEAF | IS_DELETED | HAS_BODY

const HASH_TAG = '\u0000'
const TEXT_TAG = '\u0001'

export function revisionKey(documentNumber: number, { generation, suffix }: Revision): Key {
  const tag = isHashSuffix(suffix) ? HASH_TAG : TEXT_TAG
  return (numberKey(documentNumber) + numberKey(generation) + tag + suffixToBytes(suffix)) as Key
}

/** As `revisionKey`, of a suffix that is a hash, given as its bytes. In one piece: each update makes one. */
export function hashKey(documentNumber: number, generation: number, hash: Uint8Array): Key {
  putNumber(keyCodes, 0, documentNumber)
  putNumber(keyCodes, KEY_NUMBER_BYTES, generation)
  for (let at = 0; at < REVISION_HASH_BYTES; at++) keyCodes[2 * KEY_NUMBER_BYTES + 1 + at] = hash[at]!
  return String.fromCharCode.apply(null, keyCodes) as Key
}

/** The entry of a revision with a known parent and nothing else. */
export function parentValue(parent: string): string {
  return revisionValue({ parent, leaf: false, deleted: false, body: undefined })
}

/** As `parentValue`, of a suffix that is a hash, whose bytes start at `start`. */
export function hashParentValue(bytes: Uint8Array, start: number): string {
  for (let at = 0; at < REVISION_HASH_BYTES; at++) valueCodes[1 + at] = bytes[start + at]!
  return String.fromCharCode.apply(null, valueCodes)
}

export function revisionValue({
  parent,
  leaf,
  deleted,
  body,
}: Pick<RevisionEntry, 'parent' | 'leaf' | 'deleted' | 'body'>): string {
  const flags = (leaf ? IS_LEAF : 0) | (deleted ? IS_DELETED : 0)
  const tail = body === undefined ? '' : numberBytes(body)
  const bodyFlag = body === undefined ? 0 : HAS_BODY
  if (parent === undefined) return String.fromCharCode(flags | bodyFlag) + tail
  const bytes = suffixToBytes(parent)
  if (isHashSuffix(parent)) return String.fromCharCode(flags | bodyFlag | HAS_PARENT) + bytes + tail
  const textFlags = flags | bodyFlag | HAS_PARENT | PARENT_IS_TEXT
  return String.fromCharCode(textFlags) + numberBytes(bytes.length) + bytes + tail
}

/** The tag before a hash is 0, which is there already. */
const keyCodes: number[] = new Array<number>(2 * KEY_NUMBER_BYTES + 1 + REVISION_HASH_BYTES).fill(0)
const valueCodes: number[] = [HAS_PARENT, ...new Array<number>(REVISION_HASH_BYTES).fill(0)]

/** Reads the entries of a `revisions` tree; revision-entry.ts has their format. */
const SUFFIX_AT: number = 2 * KEY_NUMBER_BYTES

/** All revisions of a document. */
export function revisionRange(documentNumber: number): KeyRange {
  return { gte: numberKey(documentNumber), lt: numberKey(documentNumber + 1) }
}

/** The number of the document that an entry belongs to. */
export function documentNumberOf(key: Key): number {
  return keyNumber(key.slice(0, KEY_NUMBER_BYTES) as Key)
}

export function readRevision(key: Key, value: Uint8Array): RevisionEntry {
  const tag = key[SUFFIX_AT]
  const bytes = key.slice(SUFFIX_AT + 1)
  const isText = tag === TEXT_TAG
  if (!isText && (tag !== HASH_TAG || bytes.length !== REVISION_HASH_BYTES))
    throw corruptBytes('a revision has no name')
  const generation = keyNumber(key.slice(0, SUFFIX_AT) as Key)
  const reader = new ByteReader(value)
  const flags = reader.u8()
  if (flags > FLAGS_KNOWN) throw corruptBytes('a revision has an unknown format')
  let parent: string | undefined
  if ((flags & HAS_PARENT) !== 0) {
    const parentIsText = (flags & PARENT_IS_TEXT) !== 0
    const length = parentIsText ? reader.varint() : REVISION_HASH_BYTES
    parent = suffixFromBytes(byteStringOf(reader, length), parentIsText)
  }
  const body = (flags & HAS_BODY) === 0 ? undefined : reader.varint()
  if (!reader.done || generation === 0) throw corruptBytes('a revision is malformed')
  return {
    generation,
    suffix: suffixFromBytes(bytes, isText),
    parent,
    leaf: (flags & IS_LEAF) !== 0,
    deleted: (flags & IS_DELETED) !== 0,
    body,
  }
}
