/** What this package says to a case, in the words of `PocketBase.answer`. */
import { bind, check, createSchema, evaluate, FILTER_BYTES_MAX, parse, RuleError } from '../src/index.ts'
import type { BoundRule, RuleRecord, RuleRecords, RuleRequest, Schema } from '../src/index.ts'
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
    definition.type === 'auth' ? { ...definition, fields: [...ACCOUNT, ...definition.fields] } : searchable(definition),
  ),
  SUPERUSERS,
])

/** `search()` looks in the titles of posts. */
function searchable<T extends { readonly name: string; readonly fields: readonly { readonly name: string }[] }>(
  definition: T,
): T {
  const fields = definition.fields.map((field) => (field.name === 'title' ? { ...field, searchable: true } : field))
  return definition.name === 'posts' ? { ...definition, fields } : definition
}

/** Whether a post has words, which are in lower case and between spaces. */
export function finds(_collection: string, { title }: RuleRecord, words: string): boolean {
  const has = new Set(((title ?? '') as string).toLowerCase().split(' '))
  return words.split(' ').every((word) => has.has(word))
}

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
    finds,
  }
}

export const RECORDS_OF_WORLD: RuleRecords = recordsOf(RECORDS)

/** Behind all dates of the cases. */
const NOW = new Date('2026-11-01T10:00:00Z')

/** The bound rule of a case. Throws a RuleError where PocketBase answers 400 or 404. */
export function boundOf({ on, as, rule = '', filter = '', sort, query, headers, write }: Case): BoundRule {
  const trusted = as === 'super'
  const entries = Object.entries(headers ?? {})
  const request: RuleRequest = {
    auth: authOf(as),
    method: write === undefined ? 'GET' : write.id === undefined ? 'POST' : 'PATCH',
    context: 'default',
    query: { ...query, ...(filter === '' ? {} : { filter }) },
    headers: Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase().replaceAll('-', '_'), value])),
    body: normalised(on, write?.body ?? {}),
  }
  return bind({
    now: NOW,
    schema: SCHEMA,
    collection: on,
    rule: trusted || rule === '' ? undefined : parse(rule),
    filter: filter === '' ? undefined : parse(filter, { bytesMax: FILTER_BYTES_MAX }),
    sort: sort === undefined ? [] : [sort.replace('-', '')],
    trusted,
    request,
    unsaved: write !== undefined && write.id === undefined,
  })
}

export function answer(each: Case): string {
  const { on, as, rule = '', filter = '', sort = '', write } = each
  if (rule !== '' && check(rule, SCHEMA, on).errors.length > 0) return 'refused'
  if (as !== 'super' && write === undefined && /@(request|collection)\./.test(`${filter} ${sort}`)) return '403'
  const refused = write?.id === undefined ? '400' : '404'
  const all = RECORDS[on]!
  try {
    const bound = boundOf(each)
    const admits = (record: RuleRecord): boolean => evaluate(bound, record, RECORDS_OF_WORLD) === true
    if (write === undefined) return namesOf(all.filter(admits).map((record) => record['id'] as string))
    const written = { ...normalised(on, write.body), id: id('new') }
    const record = write.id === undefined ? written : all.find((other) => other['id'] === id(write.id!))!
    return admits(record) ? 'ok' : refused
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    return refused
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

function authOf(as: string): (RuleRequest['auth'] & object) | null {
  if (as === 'guest') return null
  if (as === 'super') return { collection: '_superusers', record: { id: id('su') } }
  return { collection: 'users', record: RECORDS['users']!.find((user) => user['id'] === id(as))! }
}
