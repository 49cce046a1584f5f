/** Ids of documents as keys. Apart from key-encoding.ts, as whoever reads documents by their ids needs no more than this. */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { byteStringToText, textToByteString } from './text.ts'

/** Encoded bytes of a document's id. */
export const ID_BYTES_MAX = 4096

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/

/** A document's id: WTF-8 and nothing else. Ids compare by code point. */
export function encodeIdKey(id: string): Key {
  const key = ASCII.test(id) ? id : textToByteString(id)
  if (key.length > ID_BYTES_MAX) {
    throw new PannierError('PANNIER_KEY_TOO_LARGE', `An id takes ${key.length} bytes; ${ID_BYTES_MAX} are allowed.`)
  }
  return key as Key
}

export function decodeIdKey(key: Key): string {
  return ASCII.test(key) ? key : byteStringToText(key)
}

/** The smallest key above every key that starts with `prefix`; undefined if there is none. */
export function prefixUpperBound(prefix: string): Key | undefined {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 255) end--
  if (end === 0) return undefined
  return (prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1)) as Key
}
