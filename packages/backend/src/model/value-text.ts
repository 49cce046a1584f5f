/** Values of SQLite in answers. */
import type { Cell } from '../fields/sqlite.ts'

/** Powers of ten from which on, and below which, a fraction is written with an exponent. */
const EXPONENT_MAX = 6
const EXPONENT_MIN = -4

/** As JSON has it. A whole number that JavaScript can't have is a text; no other number that it can't have is one. */
export function jsonValue(value: Cell): string | number | null {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return value instanceof Uint8Array ? valueText(value) : value
}

/** The text of a value, as PocketBase's console shows it: numbers as Go writes them. */
export function valueText(value: Cell): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  return typeof value === 'number' ? realText(value) : String(value)
}

/** The text of a real number: `1.5`, `1.2345675e+06` */
function realText(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= EXPONENT_MIN && power < EXPONENT_MAX) return Object.is(value, -0) ? '-0' : String(value)
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}
