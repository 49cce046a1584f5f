/** What a function that is given stored documents has made of them. */
import { isArrayLike, isPlainObject } from '../codec/collation.ts'

/**
 * The document that is to be written; undefined: all stays as it is. `call` names the operation in errors; `read` gives the
 * documents once more, to see whether a function that returned nothing has changed those that it was given.
 */
export function changedDocument<Given>(
  call: string,
  id: string,
  change: (given: Given) => unknown,
  read: () => Given,
): object | undefined {
  const given = read()
  const changed = change(given)
  if (changed === undefined) {
    // Only now, so that an ordinary change pays nothing for it.
    if (!isSame(given, read()))
      throw new TypeError(
        `${call}: the function changed the document that it was given and returned nothing; it must return the new document, as in (doc) => ({ ...doc, n: 1 })`,
      )
    return undefined
  }
  if (changed instanceof Promise)
    throw new TypeError(`${call}: the function must not be async; it runs inside the write`)
  if (!isPlainObject(changed)) throw new TypeError(`${call}: the function must return a document or undefined`)
  const { _id = id } = changed
  if (_id !== id) throw new TypeError(`${call}: the function must not change _id`)
  return changed['_id'] === undefined ? { ...changed, _id } : changed
}

/** Of two values that were read from the same bytes. */
function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (isArrayLike(left) && isArrayLike(right)) {
    if (left.length !== right.length) return false
    for (let at = 0; at < left.length; at++) if (!isSame(left[at], right[at])) return false
    return true
  }
  if (!isPlainObject(left) || !isPlainObject(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  )
}
