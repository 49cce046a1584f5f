/** Checks and conversions of arguments. */

/** A list as it is; any other value as the only element of a list. */
export function toArray<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}
