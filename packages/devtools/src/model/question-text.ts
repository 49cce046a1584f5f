/** The question of a query as a line of text. */
import type { JsonObject } from './source.ts'

/** A query as `liveQueriesOf` describes it. */
interface Question {
  readonly selector?: unknown
  readonly sort?: readonly string[]
  readonly skip?: number
  readonly limit?: number
  readonly fields?: readonly string[] | undefined
}

/** The details that `explain` gives of the values of a field. */
interface Details {
  readonly $regex?: string
  readonly $options?: string
  readonly $some?: readonly JsonObject[]
  readonly $every?: readonly JsonObject[]
  readonly $value?: readonly JsonObject[]
}

const COMPARISONS: ReadonlyMap<string, string> = new Map([
  ['$gte', '≥'],
  ['$gt', '>'],
  ['$lte', '≤'],
  ['$lt', '<'],
])
/** More values of one field are counted. */
const VALUES_MAX = 3

export function questionText({ selector = {}, sort = [], skip = 0, limit, fields }: Question): string {
  const condition = conditionText(selector)
  const parts = [
    condition === '' ? 'all documents' : condition,
    sort.length > 0 && `sort ${sort.join(', ')}`,
    skip > 0 && `skip ${skip}`,
    limit !== undefined && Number.isFinite(limit) && `limit ${limit}`,
    fields !== undefined && fields.length > 0 && `fields ${fields.join(', ')}`,
  ]
  return parts.filter(Boolean).join(' · ')
}

/** A condition as `explain` gives it. Empty: every document meets it. */
export function conditionText(condition: unknown): string {
  if (typeof condition !== 'object' || condition === null) return json(condition)
  const entries = Object.entries(condition)
  return entries.map(([name, value]) => partText(name, value, entries.length > 1)).join(' and ')
}

function partText(name: string, value: unknown, isNested: boolean): string {
  if (name === '$and' || name === '$or') {
    const parts = (value as unknown[]).map((part) => {
      const text = conditionText(part)
      return text.includes(' or ') || text.includes(' and ') ? `(${text})` : text
    })
    if (name === '$or' && parts.length === 0) return 'nothing'
    const text = parts.join(name === '$and' ? ' and ' : ' or ')
    return isNested && parts.length > 1 ? `(${text})` : text
  }
  const { $regex, $options, $some, $every, $value } = (value ?? {}) as Details
  if ($regex !== undefined) return `${name} ~ /${$regex}/${$options ?? ''}`
  const intervals = $some ?? $every ?? $value
  if (intervals !== undefined) return intervalsText(name, intervals)
  return `${name} ${json(value)}`
}

function intervalsText(path: string, intervals: readonly JsonObject[]): string {
  const points = intervals.filter((interval) => '$eq' in interval)
  if (points.length === intervals.length && points.length > 1) {
    const values = points.slice(0, VALUES_MAX).map(({ $eq }) => json($eq))
    return `${path} in ${values.join(', ')}${points.length > VALUES_MAX ? `, … (${points.length})` : ''}`
  }
  if (intervals.length > VALUES_MAX) return `${path} in ${intervals.length} ranges`
  return intervals.map((interval) => intervalText(path, interval)).join(' or ')
}

function intervalText(path: string, interval: JsonObject): string {
  if ('$eq' in interval) return `${path} = ${json(interval['$eq'])}`
  const bounds = Object.entries(interval).filter(([, value]) => value !== undefined)
  // Where values of a type begin or end is of no interest beside a value of that type.
  const kinds = new Set(bounds.map(([, value]) => typeof value))
  const told = kinds.size > 1 ? bounds.filter(([, value]) => value !== null && typeof value !== 'object') : bounds
  return told.map(([name, value]) => `${path} ${COMPARISONS.get(name) ?? name} ${json(value)}`).join(' and ')
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined'
}
