/** Values that the server stores as they are sent, by the type of their field: one row each. A type without a row has one text. */
import type { Field } from '@pannier/rules'
import { NEW_FILE } from './writes.ts'

type IsPlain = (value: unknown) => boolean

const DATE = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z)?$/

const PLAIN: ReadonlyMap<string, IsPlain> = new Map<string, IsPlain>([
  ['number', (value) => Number.isFinite(value) && !Object.is(value, -0)],
  ['bool', (value) => typeof value === 'boolean'],
  ['select', isName],
  ['relation', isName],
  // The server gives a new file another name.
  ['file', (value) => isName(value) && !NEW_FILE.test(String(value))],
  ['date', (value) => isText(value) && DATE.test(String(value))],
  ['json', (value) => typeof value !== 'string'],
  ['geoPoint', (value) => typeof value === 'object'],
])

export function isPlainValue({ type, isMany }: Field, value: unknown): boolean {
  const isPlain = PLAIN.get(type) ?? isText
  if (!isMany) return isPlain(value)
  const isSet = Array.isArray(value) && new Set(value).size === value.length
  return isSet && value.every((one) => one !== '' && isPlain(one))
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** Whether a value is a name: a text that can't be read as a list. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('[')
}
