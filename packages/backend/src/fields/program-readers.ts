/** Reads values that code gives, and not JSON: what types of fields share. */
import { badArgument } from 'pannier/internal'
import type { Chance } from '../gateway/chance.ts'
import { dateText, readDate } from './date-text.ts'

/** The place that a value comes from. */
export interface Place {
  readonly call: string
  /** The field, or a part of it: `data.at`. */
  readonly name: string
  readonly chance: Chance
}

export function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

export function refuse(wanted: string, value: unknown, { call, name }: Place): never {
  throw badArgument(call, `${name} must be ${wanted}`, value)
}

export function readText(value: unknown, place: Place): unknown {
  if (isScalar(value)) return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return readTime(value, place)
  if (value instanceof URL) return value.href
  return refuse('a text', value, place)
}

/** A text that is no date would erase the one that is stored. */
export function readTime(value: unknown, place: Place): unknown {
  if (value === '') return ''
  if (value instanceof Date && Number.isFinite(value.getTime())) return dateText(value.getTime())
  if (typeof value === 'string' && readDate(value) !== '') return value
  return refuse('a Date, or a text such as 2026-05-06 07:08:09Z', value, place)
}
