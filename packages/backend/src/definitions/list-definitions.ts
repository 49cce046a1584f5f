/** Pages of definitions, filtered and sorted by the fields that say what they are. */
import { bind, createSchema, evaluate, parse, RuleError, type RuleRecord } from '@pannier/rules'
import type { Environment } from 'pannier/types'
import { randomFraction, type Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { presentDefinition } from './present-definition.ts'

export interface DefinitionListOptions {
  /** The number of the page, from 1. */
  readonly page?: number
  readonly perPage?: number
  /** The sort: `-created,name` */
  readonly sort?: string
  readonly filter?: string
  readonly skipTotal?: boolean
}

export interface DefinitionPage {
  readonly page: number
  readonly perPage: number
  /** The number of all items; -1 if it was skipped. */
  readonly totalItems: number
  readonly totalPages: number
  readonly items: readonly JsonObject[]
}

const PER_PAGE = 30
const PER_PAGE_MAX = 1000
const SORTS_MAX = 8

const NAME = 'definitions'
const FIELDS = [
  { name: 'id', type: 'text' },
  { name: 'created', type: 'date' },
  { name: 'updated', type: 'date' },
  { name: 'name', type: 'text' },
  { name: 'system', type: 'bool' },
  { name: 'type', type: 'text' },
]
const SCHEMA = createSchema([{ name: NAME, fields: FIELDS }])

/** The size of a page for the number that a client asks for, in each list of the REST API. */
export function pageSize(perPage: number = PER_PAGE): number {
  return perPage <= 0 ? PER_PAGE : Math.min(perPage, PER_PAGE_MAX)
}

/** A filter of definitions leads to no records. */
const NO_RECORDS = {
  get: () => null,
  via: () => ({ records: [], isComplete: true }),
  all: () => ({ records: [], isComplete: true }),
}

/** @throws ServiceError INVALID */
export function listDefinitions(
  all: readonly Definition[],
  options: DefinitionListOptions,
  environment: Chance & Pick<Environment, 'wallClock'>,
): DefinitionPage {
  const { page = 1, perPage, sort = '', filter = '', skipTotal = false } = options
  const rows = sorted(filtered(all, filter, new Date(environment.wallClock())), sort, environment)
  const size = pageSize(perPage)
  const number = Math.max(page, 1)
  return {
    items: rows.slice((number - 1) * size, number * size).map(presentDefinition),
    page: number,
    perPage: size,
    totalItems: skipTotal ? -1 : rows.length,
    totalPages: skipTotal ? -1 : Math.ceil(rows.length / size),
  }
}

function filtered(all: readonly Definition[], filter: string, now: Date): readonly Definition[] {
  if (filter === '') return all
  try {
    const bound = bind({
      schema: SCHEMA,
      collection: NAME,
      filter: parse(filter),
      request: { auth: null },
      trusted: true,
      now,
    })
    return all.filter((definition) => evaluate(bound, definition as unknown as RuleRecord, NO_RECORDS) === true)
  } catch (error) {
    if (error instanceof RuleError) throw invalid('')
    throw error
  }
}

function sorted(all: readonly Definition[], sort: string, chance: Chance): readonly Definition[] {
  if (sort === '') return all
  const keys = sort.split(',').map((part) => sortKey(part.trim(), chance))
  if (keys.length > SORTS_MAX) throw invalid('')
  const rows = all.map((definition, place) => ({
    definition,
    values: keys.map((key) => key.valueOf(definition, place)),
  }))
  rows.sort((one, other) => {
    for (const [at, { direction }] of keys.entries()) {
      const [a, b] = [one.values[at]!, other.values[at]!]
      if (a !== b) return a < b ? -direction : direction
    }
    return 0
  })
  return rows.map(({ definition }) => definition)
}

interface SortKey {
  readonly direction: 1 | -1
  valueOf(definition: Definition, place: number): string | number
}

function sortKey(part: string, chance: Chance): SortKey {
  const direction = part.startsWith('-') ? -1 : 1
  const name = part.replace(/^[+-]/, '')
  if (name === '@random') return { direction, valueOf: () => randomFraction(chance) }
  if (name === '@rowid') return { direction, valueOf: (_, place) => place }
  if (!FIELDS.some((field) => field.name === name)) throw invalid('')
  return { direction, valueOf: (definition) => String(definition[name as 'name']) }
}
