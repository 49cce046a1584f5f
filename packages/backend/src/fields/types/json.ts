/** Fields of type `json`. */
import { parseJson, withSortedKeys } from '../cast.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError, INTEGER_MAX, NOT_UNICODE, outside } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption, integerOption } from '../options.ts'
import { isScalar, refuse, type Place } from '../program-readers.ts'

export interface JsonField extends FieldBase, Requirable {
  readonly type: 'json'
  readonly maxSize: number
}

const JSON_MAX = 1 << 20
const EMPTY_JSON = ['null', '""', '[]', '{}']

export const JSON_FIELD: FieldType<JsonField> = {
  options: { maxSize: integerOption, required: flagOption },
  column: 'JSON',
  order: 'json',
  takesAll: true,
  empty: () => null,
  cast(_, value) {
    if (typeof value === 'string') return readJson(value)
    return isKept(value) ? withSortedKeys(value ?? null) : value
  },
  ofProgram: (value, place) => readValue(value, place, []),
  check(field, value, { old }) {
    if (!isKept(value)) return NO_JSON
    const text = JSON.stringify(value)
    if (value !== old && HALF.test(text)) return NOT_UNICODE
    const maxSize = bytesMax(field)
    if (Buffer.byteLength(text) > maxSize) {
      return fieldError('validation_json_size_limit', 'The maximum allowed JSON size is {maxSize} bytes.', { maxSize })
    }
    return field.required && EMPTY_JSON.includes(text) ? BLANK : undefined
  },
  checkOptions: ({ maxSize }) => ({ maxSize: outside(maxSize, 0, INTEGER_MAX) }),
  bytesMax,
  readType: () => 'unknown',
}

function bytesMax({ maxSize }: JsonField): number {
  return maxSize <= 0 ? JSON_MAX : maxSize
}

const NO_JSON = fieldError('validation_invalid_json', 'Must be a valid json value.')
/** Half of a surrogate pair, as JSON.stringify escapes it. A backslash that is escaped escapes nothing. */
const HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f]/
/** The greatest depth, as Go's. */
const DEPTH_MAX = 10_000

/** JSON that Go reads, too: its numbers are finite, and it is not too deep. */
function isKept(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX || level.some((one) => typeof one === 'number' && !Number.isFinite(one))) return false
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return true
}

/** Dates begin as numbers do: to find by parsing that they are none costs more than all else of a row. */
const LIKE_JSON = /^(?:null$|true$|false$|["[{]|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*$)/

/** A text that looks like JSON is read as JSON. */
function readJson(text: string): unknown {
  const value = LIKE_JSON.test(text) ? parseJson(text) : undefined
  return value === undefined || !isKept(value) ? text : value
}

/** As JSON.stringify does, except where that loses a value. `above`: what the value stands in. */
function readValue(value: unknown, place: Place, above: readonly unknown[]): unknown {
  if (value === null || isScalar(value)) return value
  if (typeof value !== 'object') return refuse('a JSON value', value, place)
  if (above.includes(value)) return refuse('a JSON value without a circle', value, place)
  const inner = (one: unknown, key: string | number): unknown =>
    one === undefined ? null : readValue(one, { ...place, name: `${place.name}.${key}` }, [...above, value])
  if (value instanceof Date && !Number.isFinite(value.getTime())) return refuse('a JSON value', value, place)
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return inner((value.toJSON as (key: string) => unknown)(''), 'toJSON()')
  if (value instanceof Set) return readValue([...value], place, above)
  if (Array.isArray(value)) return value.map(inner)
  if (value instanceof Blob || ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Promise)
    return refuse('a JSON value', value, place)
  if (value instanceof Map) return readValue(objectOf(value, place), place, above)
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf()
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(entries.map(([key, one]) => [key, inner(one, key)]))
}

function objectOf(value: ReadonlyMap<unknown, unknown>, place: Place): object {
  const entries = [...value].map(([key, one]) =>
    typeof key === 'string' ? ([key, one] as const) : refuse('a Map whose keys are texts', value, place),
  )
  return Object.fromEntries(entries)
}
