/** The names of the request for rules, as PocketBase reads them. */
import { sqlValue } from './column.ts'
import type { Kind } from './kinds.ts'
import type { Value } from './plan.ts'
import type { RuleRecord } from './records.ts'
import { numberIn, toJson, type SqlValue } from './values.ts'

/**
 * The request that a rule is about. What is left out is not known here, as in an app that asks what a server would say.
 * Conditions on it have no answer then.
 */
export interface RuleRequest {
  /** The account that asks, and its collection. `null` is a guest. */
  readonly auth?: { readonly collection: string; readonly record: RuleRecord } | null
  /** `@request.body.*` */
  readonly body?: Readonly<Record<string, unknown>>
  /** `@request.query.*` */
  readonly query?: Readonly<Record<string, string>>
  /** `@request.headers.*`: names in lower case, with `_` for `-`. */
  readonly headers?: Readonly<Record<string, string>>
  /** `@request.method`: `GET`, `POST` and so on. */
  readonly method?: string
  /** `@request.context`: `default`, `oauth2`, `otp`, `password`, `realtime`, `protectedFile`, `batch` or `expand`. */
  readonly context?: string
}

export const NULL: Value = { kind: 'constant', value: null }
export const UNKNOWN: Value = { kind: 'unknown' }

/** The value of a parameter of SQL. `real`: Go has it as a float. */
export function parameter(value: string | number | boolean, real: boolean = typeof value === 'number'): Value {
  return { kind: 'parameter', value, real }
}

interface LookedUp {
  readonly isThere: boolean
  readonly value: unknown
}

/** Follows keys and indexes into objects and lists. */
export function lookUp(from: unknown, keys: readonly string[]): LookedUp {
  let value = from
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return MISSING
    if (Array.isArray(value) && !/^[+-]?\d+$/.test(key)) return MISSING
    const name = Array.isArray(value) ? String(Number(key)) : key
    if (!Object.hasOwn(value, name) || (Array.isArray(value) && name === 'length')) return MISSING
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value === undefined ? MISSING : { isThere: true, value }
}

const MISSING: LookedUp = { isThere: false, value: null }

/** A text sent for a number field is read as a number, as forms send it. */
export function requestValue(value: unknown, isNumber: boolean): Value {
  if (value === null || value === undefined) return NULL
  if (typeof value === 'string') {
    const number = isNumber && value.trim() === value ? numberIn(value) : undefined
    return parameter(number ?? value)
  }
  return typeof value === 'number' || typeof value === 'boolean' ? parameter(value) : parameter(toJson(value))
}

/** As Go converts a value to text; a list or an object has none. */
export function requestText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** The sent value of a field, as PocketBase has it in the record: JSON and points are texts of JSON. */
export function sentValue(value: unknown, { empty, json }: Kind): Value {
  return json && value !== undefined ? parameter(json(value)) : requestValue(value, empty === 0)
}

export function itemsOf(value: unknown): readonly SqlValue[] {
  const items: readonly unknown[] = value === null || value === undefined ? [] : Array.isArray(value) ? value : [value]
  return items.map(sqlValue)
}
