/** What this package says to a case, in the words of `PocketBase.answer`. */
import { bind, check, createSchema, evaluate, FILTER_BYTES_MAX, parse, RuleError } from '../src/index.ts'
import type { BoundRule, Expression, RuleRecord, RuleRecords, RuleRequest, Schema } from '../src/index.ts'
import type { Case } from './cases.ts'
import { namesOf } from './pocketbase.ts'
import { DEFINITIONS, id, RECORDS } from './world.ts'

const SUPERUSERS = { name: '_superusers', type: 'auth', fields: [{ name: 'email', type: 'email' }], listRule: null }
const ACCOUNT = [
  { name: 'email', type: 'email' },
  { name: 'emailVisibility', type: 'bool' },
  { name: 'verified', type: 'bool' },
  { name: 'password', type: 'password', hidden: true },
  { name: 'tokenKey', type: 'text', hidden: true },
]

export const SCHEMA: Schema = createSchema([
  ...DEFINITIONS.map((definition) =>
    definition.type === 'auth' ? { ...definition, fields: [...ACCOUNT, ...definition.fields] } : definition,
  ),
  SUPERUSERS,
])

export type World = Readonly<Record<string, readonly RuleRecord[]>>

export function recordsOf(world: World): RuleRecords {
  const complete = (records: readonly RuleRecord[]) => ({ records, isComplete: true })
  const tables = new Map(
    Object.entries(world).map(([name, records]) => [name, new Map(records.map((record) => [record['id'], record]))]),
  )
  return {
    get: (collection, recordId) => tables.get(collection)?.get(recordId) ?? null,
    via: (collection, field, recordId) =>
      complete((world[collection] ?? []).filter((record) => [record[field]].flat().includes(recordId))),
    all: (collection) => complete(world[collection] ?? []),
  }
}

const RECORDS_OF_WORLD = recordsOf(RECORDS)

export function answer({ on, as, rule, filter, sort, query, headers, write }: Case): string {
  let parsedRule: Expression | undefined
  if (rule !== undefined && rule !== '') {
    if (check(rule, SCHEMA, on).errors.length > 0) return 'refused'
    parsedRule = parse(rule)
  }
  const trusted = as === 'super'
  const asked = `${filter ?? ''} ${sort ?? ''}`
  if (!trusted && write === undefined && /@(request|collection)\./.test(asked)) return '403'
  const method = write === undefined ? 'GET' : write.id === undefined ? 'POST' : 'PATCH'
  const request: RuleRequest = {
    auth: authOf(as),
    method,
    context: 'default',
    query: { ...query, ...(filter === undefined ? {} : { filter }) },
    headers: Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase().replaceAll('-', '_'), value]),
    ),
    body: normalised(on, write?.body ?? {}),
  }
  const now = new Date()
  const all = RECORDS[on]!
  try {
    const parsedFilter =
      filter === undefined || filter === '' ? undefined : parse(filter, { maxBytes: FILTER_BYTES_MAX })
    const bound = bind({
      schema: SCHEMA,
      collection: on,
      rule: trusted ? undefined : parsedRule,
      filter: parsedFilter,
      sort: sort === undefined ? [] : [sort.replace('-', '')],
      trusted,
      request,
      now,
      unsaved: write !== undefined && write.id === undefined,
    })
    if (write === undefined)
      return namesOf(
        all.filter((record) => evaluateAll(bound, record) === true).map((record) => record['id'] as string),
      )
    const record =
      write.id === undefined
        ? { ...normalised(on, write.body), id: id('new') }
        : all.find((each) => each['id'] === id(write.id!))!
    return evaluateAll(bound, record) === true ? 'ok' : write.id === undefined ? '400' : '404'
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    return write?.id === undefined ? '400' : '404'
  }
}

/** As a server reads the values that are sent, by the types of fields. */
function normalised(collection: string, body: RuleRecord): RuleRecord {
  const { fields } = SCHEMA.find(collection)!
  const read = (name: string, value: unknown): unknown => {
    const { type = '', isMany = false } = fields.get(name) ?? {}
    if (isMany) return [value].flat()
    if (type === 'date') return new Date(`${String(value)}Z`).toISOString().replace('T', ' ')
    return type === 'number' ? Number(value) : value
  }
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, read(name, value)]))
}

function evaluateAll(bound: BoundRule, record: RuleRecord): boolean | undefined {
  return evaluate(bound, record, RECORDS_OF_WORLD)
}

function authOf(as: string): (RuleRequest['auth'] & object) | null {
  if (as === 'guest') return null
  if (as === 'super') return { collection: '_superusers', record: { id: id('su') } }
  return { collection: 'users', record: RECORDS['users']!.find((user) => user['id'] === id(as))! }
}
