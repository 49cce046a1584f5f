/** CouchDB's order of view keys: null, false, true, numbers, strings, arrays, objects. */

/** Compares keys: negative, zero or positive. Strings compare by the code units of what `sortKey` makes of them. */
export function compareKeys(left: unknown, right: unknown, sortKey: (text: string) => string): number {
  const difference = rankOf(left) - rankOf(right)
  if (difference !== 0) return difference
  if (typeof left === 'number') return left - (right as number)
  if (typeof left === 'string') return compareTexts(sortKey(left), sortKey(right as string))
  if (typeof left !== 'object' || left === null) return 0
  // For an array these are indices, equal in both, and elements.
  const parts = Object.entries(left).flat()
  const others = Object.entries(right as object).flat()
  for (let at = 0; at < parts.length && at < others.length; at++) {
    const decided = compareKeys(parts[at], others[at], sortKey)
    if (decided !== 0) return decided
  }
  return parts.length - others.length
}

function compareTexts(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1
}

function rankOf(value: unknown): number {
  if (value === null) return 0
  if (typeof value === 'boolean') return value ? 2 : 1
  if (typeof value === 'number') return 3
  if (typeof value === 'string') return 4
  return Array.isArray(value) ? 5 : 6
}
