/** How large a value is as JSON, without making the text of it. */

/** The size of JSON in characters, about. It stops counting beyond `most`. */
export function jsonSize(value: unknown, most: number = Infinity): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 6
  let size = 2
  if (Array.isArray(value))
    for (const item of value) {
      if (size > most) break
      size += 1 + jsonSize(item, most - size)
    }
  else
    for (const key in value) {
      if (size > most) break
      size += key.length + 4 + jsonSize((value as Readonly<Record<string, unknown>>)[key], most - size)
    }
  return size
}
