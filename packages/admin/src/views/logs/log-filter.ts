/** Which logs are shown, as the address says it, and as the server is asked for it. */
import { check, createSchema } from '@pannier/rules'
import type { Mistake } from '../../parts/code-editor/contract.ts'
import { quoted } from '../../api/records.ts'

export const LEVELS = ['all', 'warnings', 'errors', 'info', 'debug'] as const
export type Level = (typeof LEVELS)[number]

const LEVEL_FILTERS: Readonly<Record<Level, string>> = {
  all: '',
  warnings: 'level >= 4',
  errors: 'level >= 8',
  info: 'level >= 0 && level < 4',
  debug: 'level < 0',
}

export interface LogQuery {
  /** Words, or a filter. */
  readonly text: string
  readonly level: Level
  /** Requests of superusers are most of the logs while one of them looks at this page. */
  readonly hasSuperusers: boolean
  /** The ends of the period, in milliseconds since 1970. */
  readonly from: number | undefined
  readonly to: number | undefined
}

export function readLogQuery(query: Readonly<Record<string, string>>): LogQuery {
  return {
    text: query['q'] ?? '',
    level: LEVELS.find((level) => level === query['level']) ?? 'all',
    hasSuperusers: query['superusers'] === 'yes',
    from: readTime(query['from']),
    to: readTime(query['to']),
  }
}

/** The fields of a log. */
const NAME = '_logs'
const FIELDS = { id: 'text', created: 'date', level: 'number', message: 'text', data: 'json' } as const
const SCHEMA = createSchema([
  {
    id: NAME,
    name: NAME,
    type: 'base',
    fields: Object.entries(FIELDS).map(([name, type]) => ({ id: name, name, type })),
  },
])

/** Mistakes in a filter; words are never wrong. */
export function mistakesOf(text: string): readonly Mistake[] {
  if (!isFilter(text)) return []
  return check(text, SCHEMA, NAME).errors.map(({ position, message }) => ({ at: position, message }))
}

/** The filter of a query without its period: the chart shows the time around it, too. */
export function filterOf({ text, level, hasSuperusers }: LogQuery): string {
  return both(both(filterOfText(text), LEVEL_FILTERS[level]), hasSuperusers ? '' : 'data.auth != "_superusers"')
}

export function withPeriod(filter: string, { from, to }: Pick<LogQuery, 'from' | 'to'>): string {
  const begin = from === undefined ? '' : `created >= ${quoted(dateText(from))}`
  const end = to === undefined ? '' : `created < ${quoted(dateText(to))}`
  return both(both(filter, begin), end)
}

/** The filter for a text: a text without an operator is searched in the messages. */
export function filterOfText(text: string): string {
  return text === '' || isFilter(text) ? text : `message ~ ${quoted(text)}`
}

function isFilter(text: string): boolean {
  return /[=~<>]/.test(text)
}

export function both(one: string, other: string): string {
  return one === '' || other === '' ? one + other : `(${one}) && (${other})`
}

/** As the server writes dates. */
function dateText(time: number): string {
  return new Date(time).toISOString().replace('T', ' ')
}

function readTime(text: string | undefined): number | undefined {
  const time = text === undefined ? NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
