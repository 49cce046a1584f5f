/** Fields of type `geoPoint`. */
import { isObject } from 'pannier/internal'
import { parseJson } from '../cast.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption } from '../options.ts'
import { refuse } from '../program-readers.ts'

export interface GeoPointField extends FieldBase, Requirable {
  readonly type: 'geoPoint'
}

const NO_LATITUDE = fieldError('validation_invalid_latitude', 'Latitude must be between -90 and 90 degrees.')
const NO_LONGITUDE = fieldError('validation_invalid_longitude', 'Longitude must be between -180 and 180 degrees.')

interface GeoPoint {
  readonly lon: number
  readonly lat: number
}

export const GEO_POINT: FieldType<GeoPointField> = {
  options: { required: flagOption },
  column: 'JSON',
  empty: (): GeoPoint => ({ lon: 0, lat: 0 }),
  cast: (_, value): GeoPoint => pointOf(typeof value === 'string' ? parseJson(value) : value),
  ofProgram(value, place) {
    if (typeof value === 'string') return value
    if (typeof value === 'object' && 'lon' in value! && 'lat' in value && Object.keys(value).length === 2) {
      const { lon, lat } = value
      if (Number.isFinite(lon) && Number.isFinite(lat)) return { lon, lat }
    }
    return refuse('{ lon, lat } with two numbers', value, place)
  },
  check({ required }, value) {
    const { lon, lat } = value as GeoPoint
    if (lon === 0 && lat === 0) return required ? BLANK : undefined
    if (Math.abs(lat) > 90) return NO_LATITUDE
    return Math.abs(lon) > 180 ? NO_LONGITUDE : undefined
  },
  readType: () => '{ lon: number; lat: number }',
}

function pointOf(value: unknown): GeoPoint {
  if (!isObject(value)) return { lon: 0, lat: 0 }
  const { lon, lat } = value
  return { lon: coordinate(lon), lat: coordinate(lat) }
}

function coordinate(value: unknown): number {
  return typeof value === 'number' ? value + 0 : 0
}
