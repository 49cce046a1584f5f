/** Fields of type `number`, `bool`, `date`, `autodate`, `json` and `geoPoint`. */
import type { FieldError } from '../gateway/service-error.ts'
import { parseJson, toBoolean, toNumber, toText, withSortedKeys } from './cast.ts'
import { readDate, timeOfDateText } from './date-text.ts'
import { BLANK, DIFFERENT, fieldError, INTEGER_MAX, outside } from './field-errors.ts'
import type { AutodateField, BoolField, DateField, GeoPointField, JsonField, NumberField } from './field-definition.ts'
import type { FieldType } from './field-type.ts'
import { dateOption, flagOption, integerOption, numberOption } from './options.ts'

const JSON_MAX = 1 << 20
const ONLY_INT = fieldError('validation_only_int_constraint', 'Decimal numbers are not allowed.')
const NO_CHOICE = fieldError('validation_required', 'Either onCreate or onUpdate must be enabled.')
const NO_NUMBER = fieldError('validation_not_a_number', 'The submitted number is not properly formatted.')
const NO_LATITUDE = fieldError('validation_invalid_latitude', 'Latitude must be between -90 and 90 degrees.')
const NO_LONGITUDE = fieldError('validation_invalid_longitude', 'Longitude must be between -180 and 180 degrees.')

export const NUMBER: FieldType<NumberField> = {
  options: { max: numberOption, min: numberOption, onlyInt: flagOption, required: flagOption },
  empty: () => 0,
  cast: (_, value) => toNumber(value),
  check({ required, onlyInt, min, max }, given) {
    const value = given as number
    if (!Number.isFinite(value)) return NO_NUMBER
    if (value === 0) return required ? BLANK : undefined
    if (onlyInt && !isInteger(value)) return ONLY_INT
    if (min !== null && value < min) return tooSmall(min)
    if (max !== null && value > max) {
      return fieldError('validation_max_number_constraint', 'Must be less or equal than {max}.', { max })
    }
    return undefined
  },
  checkOptions({ min, max, onlyInt }) {
    const isDecimal = (option: number | null): boolean => onlyInt && option !== null && !isInteger(option)
    const isLess = min !== null && max !== null && max < min
    return {
      min: isDecimal(min) ? ONLY_INT : undefined,
      max: isDecimal(max) ? ONLY_INT : isLess ? tooSmall(min) : undefined,
    }
  },
  modifiers: ['add', 'remove'],
  modify(_, modifier, value, input) {
    return toNumber(value) + (modifier === 'add' ? 1 : -1) * toNumber(input)
  },
}

function tooSmall(min: number): FieldError {
  return fieldError('validation_min_number_constraint', 'Must be greater or equal than {min}.', { min })
}

/** Whether a number is an integer of 64 bits. */
function isInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}

export const BOOL: FieldType<BoolField> = {
  options: { required: flagOption },
  empty: () => false,
  cast: (_, value) => toBoolean(value),
  check: ({ required }, value) => (required && value === false ? BLANK : undefined),
}

export const DATE: FieldType<DateField> = {
  options: { max: dateOption, min: dateOption, required: flagOption },
  empty: () => '',
  cast: (_, value) => readDate(toText(value)),
  check({ required, min, max }, given) {
    const value = given as string
    if (value === '') return required ? BLANK : undefined
    if (min !== '' && value < min) {
      return outOfTime('validation_min_greater_equal_than_required', 'no less', min)
    }
    return max !== '' && value > max
      ? outOfTime('validation_max_less_equal_than_required', 'no greater', max)
      : undefined
  },
}

/** `date` is in Go's form in the message, and in RFC 3339 in the parameter. */
function outOfTime(code: string, relation: string, date: string): FieldError {
  const [day, time] = new Date(timeOfDateText(date))
    .toISOString()
    .replace(/\.?0*Z$/, '')
    .split('T')
  const error = fieldError(code, `Must be ${relation} than ${day} ${time} +0000 UTC.`)
  return { ...error, params: { threshold: `${day}T${time}Z` } }
}

export const AUTODATE: FieldType<AutodateField> = {
  options: { onCreate: flagOption, onUpdate: flagOption },
  empty: () => '',
  cast: (_, value) => readDate(toText(value)),
  check: () => undefined,
  checkOptions({ onCreate, onUpdate, system }, { old }) {
    const before = old?.type === 'autodate' && system ? old : { onCreate, onUpdate }
    const missing = onCreate || onUpdate ? undefined : NO_CHOICE
    return {
      onCreate: onCreate === before.onCreate ? missing : DIFFERENT,
      onUpdate: onUpdate === before.onUpdate ? missing : DIFFERENT,
    }
  },
}

const EMPTY_JSON = ['null', '""', '[]', '{}']

export const JSON_FIELD: FieldType<JsonField> = {
  options: { maxSize: integerOption, required: flagOption },
  empty: () => null,
  cast(_, value) {
    if (typeof value === 'string') return readJson(value)
    return isKept(value) ? withSortedKeys(value ?? null) : value
  },
  check(field, value) {
    if (!isKept(value)) return NO_JSON
    const text = JSON.stringify(value)
    const maxSize = field.maxSize <= 0 ? JSON_MAX : field.maxSize
    if (Buffer.byteLength(text) > maxSize) {
      return fieldError('validation_json_size_limit', 'The maximum allowed JSON size is {maxSize} bytes.', { maxSize })
    }
    return field.required && EMPTY_JSON.includes(text) ? BLANK : undefined
  },
  checkOptions: ({ maxSize }) => ({ maxSize: outside(maxSize, 0, INTEGER_MAX) }),
}

const NO_JSON = fieldError('validation_invalid_json', 'Must be a valid json value.')
/** Go's. */
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

interface GeoPoint {
  readonly lon: number
  readonly lat: number
}

export const GEO_POINT: FieldType<GeoPointField> = {
  options: { required: flagOption },
  empty: (): GeoPoint => ({ lon: 0, lat: 0 }),
  cast: (_, value): GeoPoint => pointOf(typeof value === 'string' ? parseJson(value) : value),
  check({ required }, value) {
    const { lon, lat } = value as GeoPoint
    if (lon === 0 && lat === 0) return required ? BLANK : undefined
    if (Math.abs(lat) > 90) return NO_LATITUDE
    return Math.abs(lon) > 180 ? NO_LONGITUDE : undefined
  },
}

function pointOf(value: unknown): GeoPoint {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { lon: 0, lat: 0 }
  const { lon, lat } = value as Record<string, unknown>
  return { lon: coordinate(lon), lat: coordinate(lat) }
}

function coordinate(value: unknown): number {
  return typeof value === 'number' ? value + 0 : 0
}
