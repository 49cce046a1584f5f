/**
 * The entries of an index: for each document the encoded values of the fields, one after the other, then the document's
 * number (codec/key-number.ts). The value of an entry is empty.
 *
 * A missing field is indexed as `undefined`, the lowest of all values, so every index holds every live document at least once
 * and can serve any sort. A multi index holds one entry per distinct element; one with `undefined` for a missing field or an
 * empty array; a value that is no array counts as one element.
 *
 * Very long values are cut off (codec/key-encoding.ts says where), so no document is too large to be indexed. Among values
 * that share so long a start an index neither tells one from another nor sorts exactly.
 */
import { isArrayLike } from '../codec/collation.ts'
import { encodeKey, encodeKeyDescending } from '../codec/key-encoding.ts'
import { numberKey } from '../codec/key-number.ts'
import type { IndexDefinition } from '../document/index-definition.ts'

/** Tells the value at a path. */
export type ReadPath = (path: string) => unknown

/** Whole keys of a document's entries, distinct, in no order. */
export function indexKeys(definition: IndexDefinition, readField: ReadPath, documentNumber: number): string[] {
  const suffix = numberKey(documentNumber)
  if (!definition.multi) return [fieldsPrefix(definition, readField) + suffix]
  return elementPrefixes(definition, readField).map((prefix) => prefix + suffix)
}

/** Of an index that is not multi: the key of a document's entry without the document's number. */
export function fieldsPrefix({ fields }: IndexDefinition, readField: ReadPath): string {
  let prefix = ''
  for (let at = 0; at < fields.length; at++) {
    const { path, descending } = fields[at]!
    prefix += encodeIndexValue(readField(path), descending)
  }
  return prefix
}

/** Of a multi index: the distinct keys of a document's entries without the document's number. */
export function elementPrefixes(definition: IndexDefinition, readField: ReadPath): string[] {
  const { path, descending } = definition.fields[0]!
  const value = readField(path)
  if (!isArrayLike(value)) return [encodeIndexValue(value, descending)]
  const prefixes = new Set<string>()
  for (let at = 0; at < value.length; at++) prefixes.add(encodeIndexValue(value[at], descending))
  return prefixes.size === 0 ? [encodeIndexValue(undefined, descending)] : [...prefixes]
}

/** The start that is common to the entries whose first fields have these values. */
export function indexPrefix(definition: IndexDefinition, values: readonly unknown[]): string {
  let prefix = ''
  values.forEach((value, at) => (prefix += encodeIndexValue(value, definition.fields[at]!.descending)))
  return prefix
}

/** One field of an entry. */
export function encodeIndexValue(value: unknown, descending: boolean): string {
  return descending ? encodeKeyDescending(value) : encodeKey(value)
}
