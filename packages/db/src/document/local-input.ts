/** Checks and encodes `_local/` documents as soon as callers pass them in. */
import type { Key } from '../base/brand.ts'
import { ArgumentError } from '../base/options.ts'
import { ByteWriter } from '../codec/bytes.ts'
import { checkPlainObject } from '../codec/collation.ts'
import { isReserved, encodeDocument } from '../codec/encode-document.ts'
import { encodeIdKey } from '../codec/key-encoding.ts'
import { ShapeDictionary } from '../codec/shape.ts'
import { LOCAL_PREFIX } from './document-id.ts'

/** A document as it was handed in, encoded. */
export interface LocalWrite {
  readonly key: Key
  /** The version that is replaced, 0: there must be none; undefined: no `_rev` could be one. */
  readonly replaces: number | undefined
  readonly shapes: readonly Uint8Array[]
  readonly content: Uint8Array
}

/** The id may stand with or without `_local/`. */
export function localKey(id: unknown): Key {
  if (typeof id !== 'string') throw new ArgumentError('the id of a local document must be a string', id)
  const name = id.startsWith(LOCAL_PREFIX) ? id.slice(LOCAL_PREFIX.length) : id
  if (name === '') throw new ArgumentError('the id of a local document must not be empty', id)
  return encodeIdKey(name)
}

/** Throws a TypeError, or a PannierError for what exceeds a limit. */
export function encodeLocal(document: unknown): LocalWrite {
  checkPlainObject(document)
  for (const name of Object.keys(document)) {
    if (isReserved(name) && name !== '_id' && name !== '_rev')
      throw new ArgumentError(`the name of a field must not start with '_'`, name)
  }
  const { _id, _rev } = document
  const key = localKey(_id)
  const shapes = new ShapeDictionary()
  const writer = new ByteWriter()
  encodeDocument(document, shapes, writer)
  const encoded = shapes.added.map(({ encoded }) => encoded)
  return { key, replaces: localVersion(_rev), shapes: encoded, content: writer.finish() }
}

/** The version in a `_rev`; undefined for what cannot be one. */
export function localVersion(rev: unknown): number | undefined {
  if (rev === undefined) return 0
  if (typeof rev !== 'string') throw new ArgumentError('_rev must be a string', rev)
  const match = /^0-(0|[1-9]\d{0,14})$/.exec(rev)
  return match === null ? undefined : Number(match[1])
}
