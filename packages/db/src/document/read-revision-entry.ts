/** Reads the entries of a `revisions` tree; revision-entry.ts has their format. */
import type { Key } from '../base/brand.ts'
import { byteStringOf, ByteReader, corruptBytes } from '../codec/bytes.ts'
import { KEY_NUMBER_BYTES, keyNumber, numberKey } from '../codec/key-encoding.ts'
import type { KeyRange } from '../kv/key-value-store.ts'
import {
  FLAGS_KNOWN,
  HAS_BODY,
  HAS_PARENT,
  HASH_TAG,
  IS_DELETED,
  IS_LEAF,
  PARENT_IS_TEXT,
  TEXT_TAG,
} from './revision-entry.ts'
import type { RevisionEntry } from './revision-entry.ts'
import { REVISION_HASH_BYTES, suffixFromBytes } from './revision.ts'

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
