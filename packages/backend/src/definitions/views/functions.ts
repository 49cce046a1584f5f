/** Functions of SQL, as SQLite has them. */

export type SqlValue = string | number | null

type SqlFunction = (...values: readonly SqlValue[]) => SqlValue

const text = (value: SqlValue | undefined): string => (value === null || value === undefined ? '' : String(value))

/** Null if one of the values is. */
function strict(run: SqlFunction): SqlFunction {
  return (...values) => (values.includes(null) ? null : run(...values))
}

export function asNumber(value: SqlValue): number {
  if (typeof value === 'number') return value
  const [number] = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i.exec(value ?? '') ?? []
  return number === undefined ? 0 : Number(number)
}

/** Numbers before texts. */
export function compareValues(one: SqlValue, other: SqlValue): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other)
  return typeof one === 'number' ? -1 : 1
}

function substring(value: SqlValue, start: SqlValue, length: SqlValue = Infinity): string {
  const letters = Array.from(text(value))
  const from = asNumber(start)
  const first = from > 0 ? from - 1 : Math.max(letters.length + from, 0)
  return letters.slice(first, first + Math.max(asNumber(length), 0)).join('')
}

function rounded(value: SqlValue, digits: SqlValue = 0): number {
  const factor = 10 ** Math.max(asNumber(digits), 0)
  const scaled = asNumber(value) * factor
  return (Math.sign(scaled) * Math.round(Math.abs(scaled))) / factor
}

const least = strict((...values) => values.toSorted(compareValues)[0]!)
const greatest = strict((...values) => values.toSorted(compareValues).at(-1)!)

/** Functions of one row. SQLite knows upper and lower case of ASCII only. */
export const FUNCTIONS: ReadonlyMap<string, SqlFunction> = new Map<string, SqlFunction>([
  ['abs', strict((value) => Math.abs(asNumber(value!)))],
  ['coalesce', (...values) => values.find((value) => value !== null) ?? null],
  ['concat', (...values) => values.map(text).join('')],
  ['ifnull', (value, otherwise) => value ?? otherwise ?? null],
  ['iif', (condition, then, otherwise = null) => (asNumber(condition ?? null) === 0 ? otherwise : (then ?? null))],
  ['instr', strict((value, part) => Array.from(text(value).split(text(part), 1)[0]!).length + 1)],
  ['length', strict((value) => Array.from(text(value)).length)],
  ['lower', strict((value) => text(value).replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()))],
  ['max', greatest],
  ['min', least],
  ['nullif', (value, other) => (compareValues(value ?? null, other ?? null) === 0 ? null : (value ?? null))],
  [
    'replace',
    strict((value, from, to) => (from === '' ? text(value) : text(value).replaceAll(text(from), () => text(to)))),
  ],
  ['round', strict((value, digits) => rounded(value!, digits))],
  ['substr', strict((value, start, length) => substring(value!, start!, length))],
  ['trim', strict((value) => text(value).replaceAll(/^ +| +$/g, ''))],
  ['upper', strict((value) => text(value).replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase()))],
])

function sum(values: readonly SqlValue[]): number {
  return values.reduce<number>((total, value) => total + asNumber(value), 0)
}

/** Functions of the values of a group. They never get null. */
export const AGGREGATES: ReadonlyMap<string, (values: readonly SqlValue[]) => SqlValue> = new Map<
  string,
  (values: readonly SqlValue[]) => SqlValue
>([
  ['avg', (values) => (values.length === 0 ? null : sum(values) / values.length)],
  ['count', (values) => values.length],
  ['group_concat', (values) => (values.length === 0 ? null : values.map(text).join(','))],
  ['max', (values) => extreme(values, 1)],
  ['min', (values) => extreme(values, -1)],
  ['sum', (values) => (values.length === 0 ? null : sum(values))],
  ['total', sum],
])

function extreme(values: readonly SqlValue[], direction: 1 | -1): SqlValue {
  return values.reduce(
    (best, value) => (best === null || compareValues(value, best) * direction > 0 ? value : best),
    null,
  )
}

/** `min` and `max` of several values are those of one row. */
export function isAggregate({ name, of }: { readonly name: string; readonly of: readonly unknown[] }): boolean {
  return AGGREGATES.has(name) && (of.length <= 1 || !FUNCTIONS.has(name))
}
