/** The types of fields as rules know them: one row each. A type without a row has one text. */
import { toJson } from './values.ts'

export interface Kind {
  /** The value of a record that has none. Its type is that of all values; paths lead into an object. */
  readonly empty: unknown
  /** A value as its column has it, if that is a text of JSON. */
  readonly json?: (value: unknown) => string
  /** Whether it is listable: a field may have a list, for `:each` and `:length`. */
  readonly isListable?: boolean
  /** Whether the values are ids of records. */
  readonly isRelation?: boolean
}

const LIST: Kind = { empty: '', isListable: true }
const KINDS: Readonly<Record<string, Kind>> = {
  number: { empty: 0 },
  bool: { empty: false },
  json: { empty: null, json: toJson },
  geoPoint: { empty: { lon: 0, lat: 0 }, json: pointJson },
  select: LIST,
  file: LIST,
  relation: { ...LIST, isRelation: true },
}

export function kindOf(field: { readonly type: string } | undefined): Kind {
  return field && Object.hasOwn(KINDS, field.type) ? KINDS[field.type]! : { empty: '' }
}

function pointJson(value: unknown): string {
  const { lon = 0, lat = 0 } = (value ?? {}) as { readonly lon?: number; readonly lat?: number }
  return JSON.stringify({ lon, lat })
}
