/** Goal: definitions are made, refused, changed, listed and imported as by the real PocketBase, whose answers were recorded. */
import { open, type Collection, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { newestCommit } from 'pannier/internal'
import { afterEach, expect, test } from 'vitest'
import type { ViewDefinition } from '../../src/definitions/definition.ts'
import { Definitions } from '../../src/definitions/definitions.ts'
import { presentDefinition } from '../../src/definitions/present-definition.ts'
import { emptyValue } from '../../src/fields/field-types.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { testModel, type TestModel } from '../test-model.ts'
import { comparable, type Answer } from './ask.ts'
import { GROUPS, type Step } from './cases.ts'
import golden from './golden/answers.json' with { type: 'json' }

const ANSWERS: Readonly<Record<string, readonly Answer[]>> = golden

const GOOD_AS_AUTH = '{"collections":[{"name":"good","type":"auth"}],"deleteMissing":false}'

/** Only the status is the same. PocketBase reports what follows from a change of the type; and an error of its database. */
const DEPARTURES: ReadonlySet<string> = new Set(['{"id":"other"}', '{"type":"auth"}', GOOD_AS_AUTH])

/** Here a provider that takes the place of another one has nothing of it: see the test of providers. */
const REPLACES_PROVIDER = '{"oauth2":{"providers":[{"name":"github"}]}}'

const opened: Database[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

for (const [group, steps] of Object.entries(GROUPS))
  test(group, async () => {
    const db = await open(group, { storage: memory(), environment: virtualEnvironment() })
    opened.push(db)
    const { model, viewReader } = testModel(db)
    const definitions = await Definitions.open(db, { queries: model })
    model.follow(definitions)
    const place = { database: db, definitions, viewReader }
    const ours: unknown[] = []
    const theirs: unknown[] = []
    let hasOtherProviders = false
    for (const [at, step] of steps.entries()) {
      const answer = await answerOf(place, step)
      if (JSON.stringify(step[2]) === REPLACES_PROVIDER) {
        expect(answer.status).toBe(400)
        hasOtherProviders = true
        continue
      }
      const name = `${at} ${step[0]} ${step[1]} ${JSON.stringify(step[2])?.slice(0, 90)}`
      const compared =
        hasOtherProviders || DEPARTURES.has(JSON.stringify(step[2])) ? ({ status }: Answer) => ({ status }) : comparable
      ours.push({ name, ...compared(answer) })
      theirs.push({ name, ...compared(ANSWERS[group]![at]!) })
    }
    expect(ours).toEqual(theirs)
  })

interface Opened extends Pick<TestModel, 'viewReader'> {
  readonly database: Database
  readonly definitions: Definitions
}

async function answerOf(opened: Opened, step: Step): Promise<Answer> {
  try {
    const body = await run(opened, step)
    return { status: body === null ? 204 : 200, body }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [status, text] = error.code === 'NOT_FOUND' ? [404, "The requested resource wasn't found."] : [400, WRONG]
    return { status, body: { data: error.data ?? {}, message: error.message || text, status } }
  }
}

const WRONG = 'Something went wrong while processing your request.'

async function run(opened: Opened, [method, path, body]: Step): Promise<unknown> {
  const { definitions } = opened
  const url = new URL(path, 'http://localhost')
  const [, , , name = '', what] = url.pathname.split('/')
  if (what === 'dry-run-view') return definitions.dryRunView(SYSTEM, (body as { query: string }).query)
  if (what === 'truncate') return (await definitions.truncate(SYSTEM, name)) ?? null
  if (what === 'records') return records(opened, name, method, body as Record<string, unknown>)
  if (method === 'PUT') {
    const { collections, deleteMissing } = body as { collections: unknown; deleteMissing: boolean }
    return (await definitions.import(SYSTEM, collections, deleteMissing)) ?? null
  }
  if (method === 'POST') return presentDefinition(await definitions.create(SYSTEM, body))
  if (method === 'PATCH') return presentDefinition(await definitions.update(SYSTEM, name, body))
  if (method === 'DELETE') return (await definitions.delete(SYSTEM, name)) ?? null
  const fields = url.searchParams.get('fields')?.split(',')
  if (name !== '') return picked(presentDefinition(definitions.get(name)), fields)
  const number = (key: string): Record<string, number> => {
    const value = url.searchParams.get(key)
    if (value !== null && !/^\d+$/.test(value)) throw new ServiceError('INVALID', '')
    return value === null ? {} : { [key]: Number(value) }
  }
  const page = definitions.list(SYSTEM, {
    ...number('page'),
    ...number('perPage'),
    sort: url.searchParams.get('sort') ?? '',
    filter: url.searchParams.get('filter') ?? '',
    skipTotal: url.searchParams.has('skipTotal'),
  })
  return { ...page, items: page.items.map((item) => picked(item, fields)) }
}

/** A field, or one of each of a list. */
function picked(item: Record<string, unknown>, names: readonly string[] | undefined): unknown {
  if (names === undefined) return item
  const result: Record<string, unknown> = {}
  for (const name of names) {
    const [first, second] = name.split('.') as [string, string?]
    if (!(first in item)) continue
    if (second === undefined) result[first] = item[first]
    else {
      const parts = item[first] as Record<string, unknown>[]
      const before = (result[first] ?? parts.map(() => ({}))) as Record<string, unknown>[]
      result[first] = parts.map((part, place) => ({ ...before[place], [second]: part[second] }))
    }
  }
  return result
}

function stored(collection: Collection<JsonObject>): Promise<JsonObject[]> {
  return collection.find({}).sort('_id').toArray()
}

/** Twice: the second time what is known is asked. */
async function viewRows({ database, viewReader }: Opened, view: ViewDefinition): Promise<JsonObject[]> {
  const rows = await viewReader.rows(view, newestCommit(database))
  expect(await viewReader.rows(view, newestCommit(database))).toBe(rows)
  return rows.toSorted((one, other) => (String(one['_id']) < String(other['_id']) ? -1 : 1))
}

/** The least that the cases need of records. */
async function records(opened: Opened, name: string, method: string, body: Record<string, unknown>): Promise<unknown> {
  const { definitions } = opened
  const definition = definitions.find(name)
  const what = method === 'GET' ? 'Missing' : 'Missing or invalid'
  if (definition === undefined) throw new ServiceError('NOT_FOUND', `${what} collection context.`)
  const shown = ({ _id, _rev, ...values }: Record<string, unknown>): object => {
    return { ...values, id: _id, collectionId: definition.id, collectionName: definition.name }
  }
  const collection = definitions.records(definition)
  if (method === 'POST') {
    const { id, ...given } = body
    const fields = definition.fields.filter(({ name }) => name !== 'id')
    const values = Object.fromEntries(fields.map((field) => [field.name, given[field.name] ?? emptyValue(field)]))
    await collection.insert({ ...values, _id: id as string })
    return shown({ ...values, _id: id })
  }
  const rows = definition.type === 'view' ? await viewRows(opened, definition) : await stored(collection)
  return { items: rows.map(shown), page: 1, perPage: 30, totalItems: rows.length, totalPages: 1 }
}
