/**
 * Collations: orders of strings other than that of code points. Strings compare by the code points of their `key`.
 * Values that contain strings compare by codec/collation.ts, with keys instead of strings.
 *
 * Stored data in such an order names its collation. A collation never changes: another order has another name.
 */
import { A_STRING, callUser } from '../base/callback.ts'
import { assert } from '../base/errors.ts'
import { ArgumentError, badArgument } from '../base/options.ts'
import { isArrayLike } from './collation.ts'
import { defineField } from './field-path.ts'

/** An order of strings, for `registerCollation`. */
export interface Collation {
  /** The name with the version: 'icu-root 15'. */
  readonly name: string
  /** The sort key of a text. Its code points order strings; it is equal for strings that count as equal. '' gives ''. Must be pure. */
  readonly key: (text: string) => string
}

const registered = new Map<string, Collation>()

/**
 * Registers an order of strings in this process, for the `collation` of queries, indexes and views. Pannier stores the
 * name, so one name must always mean the same order.
 *
 * @throws TypeError for a wrong name or key.
 * @example
 * registerCollation({ name: 'lower case 1', key: (text) => text.toLowerCase() })
 */
export function registerCollation(collation: Collation): void {
  const { name, key } = collation as { readonly [member in keyof Collation]?: unknown }
  if (typeof name !== 'string' || name === '')
    throw badArgument('registerCollation()', 'name must be a string that is not empty', name)
  if (typeof key !== 'function') throw badArgument('registerCollation()', 'key must be a function', key)
  registered.set(name, {
    name,
    key: (text) => callUser('registerCollation()', 'key', () => collation.key(text), A_STRING),
  })
}

export function isKnownCollation(name: string | undefined): boolean {
  return name === undefined || registered.has(name)
}

export function knownCollation(name: string): Collation {
  const collation = registered.get(name)
  assert(collation !== undefined, 'a collation is not known')
  return collation
}

/** The collation of an argument of the public API. */
export function collationNamed(name: unknown): Collation | undefined {
  if (name === undefined) return undefined
  const collation = typeof name === 'string' ? registered.get(name) : undefined
  if (collation === undefined) throw new ArgumentError('collation must be a name that registerCollation() knows', name)
  return collation
}

/** The value with keys instead of its strings. Names of fields are strings too. */
export function collate(value: unknown, collation: Collation): unknown {
  if (typeof value === 'string') return collation.key(value)
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (isArrayLike(value)) return Array.from(value, (element) => collate(element, collation))
  const object = {}
  for (const [name, inner] of Object.entries(value))
    defineField(object, NAME + collation.key(name), collate(inner, collation))
  return object
}

/** Stands before every name, so that no name is a number, which would come before the others. */
const NAME = ' '

/** Whether the order of strings affects comparisons with the value. */
export function holdsText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' && value !== ''
  if (ArrayBuffer.isView(value)) return false
  return Array.isArray(value) ? value.some(holdsText) : Object.keys(value).length > 0
}
