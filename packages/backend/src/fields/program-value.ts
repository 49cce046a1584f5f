/**
 * Values that code gives, and not JSON: dates, files, instances, maps. Each becomes what JSON has for it, or is refused with the name of
 * the field. No value is taken for empty.
 */
import { badArgument } from 'pannier/internal'
import type { Chance } from '../gateway/chance.ts'
import { meant } from './apply-input.ts'
import { readDate, dateText } from './date-text.ts'
import type { FieldDefinition } from './field-definition.ts'
import { NewFile, type Upload } from './new-file.ts'
import { NewPassword } from './password-field.ts'

interface Place {
  readonly call: string
  /** The field, or a part of it: `data.at`. */
  readonly name: string
  readonly chance: Chance
}

type Reader = (value: unknown, place: Place) => unknown

/** The value of a field for `value`. `name`: as the caller has it, with a modifier. @throws TypeError */
export function programValue({ type }: Pick<FieldDefinition, 'type'>, value: unknown, place: Place): unknown {
  if (value === null) return null
  return value === undefined ? refuse('a value, or null for none', value, place) : READERS[type](value, place)
}

/** An input of a client that code has changed: what JSON can't have is read as `programValue` does. */
export function programInput(
  fields: readonly FieldDefinition[],
  input: Readonly<Record<string, unknown>>,
  { call, chance }: Omit<Place, 'name'>,
): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => {
    const field = isOfJson(value) ? undefined : meant(fields, name)?.[0]
    return [name, field === undefined ? value : programValue(field, value, { call, name, chance })] as const
  })
  return Object.fromEntries(entries)
}

function isOfJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isScalar(value) || value === null
  return Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)
}

const READERS: Readonly<Record<FieldDefinition['type'], Reader>> = {
  autodate: readTime,
  bool: (value, place) => (isScalar(value) ? value : refuse('a boolean', value, place)),
  date: readTime,
  editor: readText,
  email: readText,
  file: readFiles,
  geoPoint: readPoint,
  json: (value, place) => readJson(value, place, []),
  number: readNumber,
  password: (value, place) => (value instanceof NewPassword ? value : readText(value, place)),
  relation: readTexts,
  select: readTexts,
  text: readText,
  url: readText,
}

function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

function refuse(wanted: string, value: unknown, { call, name }: Place): never {
  throw badArgument(call, `${name} must be ${wanted}`, value)
}

function readText(value: unknown, place: Place): unknown {
  if (isScalar(value)) return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return readTime(value, place)
  if (value instanceof URL) return value.href
  return refuse('a text', value, place)
}

function readNumber(value: unknown, place: Place): unknown {
  if (typeof value === 'bigint') return Number(value)
  return isScalar(value) ? value : refuse('a finite number', value, place)
}

/** A text that is no date would erase the one that is stored. */
function readTime(value: unknown, place: Place): unknown {
  if (value === '') return ''
  if (value instanceof Date && Number.isFinite(value.getTime())) return dateText(value.getTime())
  if (typeof value === 'string' && readDate(value) !== '') return value
  return refuse('a Date, or a text such as 2026-05-06 07:08:09Z', value, place)
}

/** A relation takes a record, too. */
function readTexts(value: unknown, place: Place): unknown {
  if (value instanceof Set) return readTexts([...value], place)
  if (Array.isArray(value)) return value.map((one) => readTexts(one, place))
  if (isRecord(value)) return value.id
  return readText(value, place)
}

interface RecordLike {
  readonly id: string
  collection(): unknown
}

function isRecord(value: unknown): value is RecordLike {
  return (
    typeof value === 'object' &&
    value !== null &&
    'collection' in value &&
    'id' in value &&
    typeof value.id === 'string'
  )
}

function readPoint(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && 'lon' in value! && 'lat' in value && Object.keys(value).length === 2) {
    const { lon, lat } = value
    if (Number.isFinite(lon) && Number.isFinite(lat)) return { lon, lat }
  }
  return refuse('{ lon, lat } with two numbers', value, place)
}

/** Names of files that are stored, or new ones. */
function readFiles(value: unknown, place: Place): unknown {
  if (value instanceof Set) return readFiles([...value], place)
  if (Array.isArray(value)) return value.map((one) => readFiles(one, place))
  if (typeof value === 'string' || value instanceof NewFile) return value
  const upload = uploadOf(value, place)
  return upload === undefined
    ? refuse('a File, a Blob, bytes, an upload, or the name of a file', value, place)
    : NewFile.ofProgram(upload, place.chance)
}

function uploadOf(value: unknown, { name }: Place): Upload | undefined {
  if (value instanceof Blob) {
    const of = value instanceof File ? value.name : name.replaceAll(/[^\w]/g, '')
    return { name: of, size: value.size, stream: () => value.stream() as ReadableStream<Uint8Array> }
  }
  if (value instanceof Uint8Array || value instanceof ArrayBuffer)
    return uploadOf(new Blob([value as Uint8Array<ArrayBuffer>]), { name } as Place)
  return isUpload(value) ? value : undefined
}

/** An input has JSON beside files, and JSON has no functions. */
export function isUpload(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function'
}

/** As JSON.stringify does, except where that loses a value. `above`: what the value stands in. */
function readJson(value: unknown, place: Place, above: readonly unknown[]): unknown {
  if (value === null || isScalar(value)) return value
  if (typeof value !== 'object') return refuse('a JSON value', value, place)
  if (above.includes(value)) return refuse('a JSON value without a circle', value, place)
  const inner = (one: unknown, key: string | number): unknown =>
    one === undefined ? null : readJson(one, { ...place, name: `${place.name}.${key}` }, [...above, value])
  if (value instanceof Date && !Number.isFinite(value.getTime())) return refuse('a JSON value', value, place)
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return inner((value.toJSON as (key: string) => unknown)(''), 'toJSON()')
  if (value instanceof Set) return readJson([...value], place, above)
  if (Array.isArray(value)) return value.map(inner)
  if (value instanceof Blob || ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Promise)
    return refuse('a JSON value', value, place)
  if (value instanceof Map) return readJson(objectOf(value, place), place, above)
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
