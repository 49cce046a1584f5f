/**
 * Reads what stands in a body as PocketBase does. A value that can't be read is the empty one.
 *
 * Values come from JSON or from a form. So they are null, booleans, numbers, texts, lists and objects.
 */

export function toText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
      return String(value)
    case 'number':
      return decimal(value)
    default:
      return ''
  }
}

/** Without an exponent. */
function decimal(value: number): string {
  const text = String(value)
  const [, sign, whole, fraction = '', exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (exponent === undefined) return text
  const digits = whole! + fraction
  const point = 1 + Number(exponent)
  return point > 0 ? sign! + digits.padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${digits}`
}

/** A number. Its digits may have `_` between them. */
const NUMBER = /^[+-]?(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:e[+-]?\d(?:_?\d)*)?$/i
const INFINITE = /^([+-]?)inf(?:inity)?$/i

export function toNumber(value: unknown): number {
  // `+ 0` makes 0 of -0.
  if (typeof value === 'number') return value + 0
  if (typeof value === 'boolean') return Number(value)
  if (typeof value !== 'string') return 0
  if (/^nan$/i.test(value)) return NaN
  const [, sign] = INFINITE.exec(value) ?? []
  if (sign !== undefined) return sign === '-' ? -Infinity : Infinity
  const read = NUMBER.test(value) ? Number(value.replaceAll('_', '')) : 0
  return Number.isFinite(read) ? read + 0 : 0
}

const TRUE: readonly unknown[] = ['1', 't', 'T', 'TRUE', 'true', 'True']

export function toBoolean(value: unknown): boolean {
  return typeof value === 'number' ? value !== 0 : value === true || TRUE.includes(value)
}

/** Different texts that are not empty. A text may be the JSON of a list. */
export function toTexts(value: unknown): string[] {
  return [...new Set(textsOf(value))].filter((text) => text !== '')
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.includes('[') ? textsOfJson(value) : [value]
  if (!Array.isArray(value)) return [toText(value)]
  return value.every((each) => each === null || typeof each !== 'object') ? value.map(toText) : []
}

function textsOfJson(text: string): readonly string[] {
  const value = parseJson(text)
  if (!Array.isArray(value)) return [text]
  const texts = value.map((each) => (typeof each === 'string' ? each : ''))
  return value.every((each) => each === null || typeof each === 'string') ? texts : [...texts, text]
}

/** Undefined if the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Objects as Go writes its maps. */
export function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withSortedKeys)
  const entries = Object.entries(value)
  if (entries.every(([key, each], at) => (at === 0 || entries[at - 1]![0] < key) && typeof each !== 'object'))
    return value
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, each]) => [key, withSortedKeys(each)]))
}
