/** Design documents against a real database: views as PouchDB answers them, filters, validation, and functions that fail. */
import { createRequire } from 'node:module'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, type Collection, type Database } from 'pannier'
import { systemEnvironment } from 'pannier/internal'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { designFunctions, type DesignFunctions } from '../../src/design/functions.ts'
import { filterContext } from '../../src/design/filter-request.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { GUEST } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'

interface PouchDatabase {
  bulkDocs(documents: readonly object[]): Promise<unknown>
  put(document: object): Promise<unknown>
  query(view: string, options: object): Promise<{ readonly rows: readonly object[] }>
  destroy(): Promise<void>
}

const require = createRequire(import.meta.url)
const PouchDB = (require('pouchdb-core') as { plugin(plugin: unknown): { plugin(plugin: unknown): unknown } })
  .plugin(require('pouchdb-adapter-memory'))
  .plugin(require('pouchdb-mapreduce')) as new (name: string, options: object) => PouchDatabase

const user = { db: 'cities', name: 'ann', roles: ['editor'] }
let folder: string
let db: Database
let sandbox: Sandbox
let cities: Collection<JsonObject>
const logged: JsonObject[] = []

const DESIGN = {
  _id: '_design/cities',
  lib: { rules: "exports.may = function (user) { return user.roles.indexOf('editor') >= 0 }" },
  views: {
    lib: { text: 'exports.upper = function (text) { return text.toUpperCase() }' },
    byCountry: {
      map: "function (doc) { emit([require('views/lib/text').upper(doc.country), doc.name], doc.people) }",
      reduce: '_sum',
    },
    plain: { map: 'function (doc) { if (doc.people > 500) emit(doc.people, null); emit(-doc.people) }' },
    linked: { map: 'doc => doc.capital && emit(doc.name, { _id: doc.capital })' },
    largest: {
      map: 'function (doc) { emit(doc.country, doc.people) }',
      reduce: 'function (keys, values, rereduce) { return Math.max.apply(null, values) }',
    },
    fragile: { map: 'function (doc) { emit(doc.mayor.name) }' },
  },
  filters: {
    large: 'function (doc, req) { return doc.people >= +req.query.least }',
    broken: 'function (doc) { return doc.mayor.name === 1 }',
  },
  validate_doc_update: `function (newDoc, oldDoc, userCtx, secObj) {
    if (userCtx.name === null) throw({ unauthorized: 'log in first' })
    if (!require('lib/rules').may(userCtx)) throw({ forbidden: 'no editor' })
    if (oldDoc && oldDoc.name !== newDoc.name) throw({ forbidden: 'cities keep their names' })
    if (newDoc.crash) newDoc.a.b.c()
    if (newDoc.loop) for (;;);
    if (secObj.locked) throw({ forbidden: secObj.locked })
  }`,
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pannier-design-'))
  db = await open(join(folder, 'db.sqlite'))
  sandbox = new Sandbox({
    environment: systemEnvironment(),
    limits: { interruptsMax: 300, callMsMax: 3000, threadMsMax: 4000 },
  })
  cities = db.collection<JsonObject>('cities')
  const rows = Array.from({ length: 300 }, (_, n) => ({
    _id: `city-${n}`,
    name: `City ${n % 37}`,
    country: ['no', 'fr', 'de', 'is'][n % 4]!,
    people: (n * 7919) % 1009,
    ...(n % 10 === 0 && { capital: `city-${(n + 1) % 300}` }),
    ...(n % 3 === 0 && { mayor: { name: `M${n}` } }),
  }))
  await cities.insert(rows)
})
afterAll(async () => {
  await sandbox.close()
  await db.close()
  await rm(folder, { recursive: true })
})

function functionsOf(document: JsonObject = DESIGN): DesignFunctions {
  return designFunctions(document, sandbox, 'epoch', { warn: (details) => logged.push(details) })
}

/** Through a design document, as CouchDB's clients do. */
async function pouch(): Promise<PouchDatabase> {
  const other = new PouchDB('cities', { adapter: 'memory' })
  const documents = await cities.find().toArray()
  await other.bulkDocs(documents.map(({ _rev: _, ...document }) => document))
  // It knows no `require`.
  const map = 'function (doc) { emit([doc.country.toUpperCase(), doc.name], doc.people) }'
  const { lib: _, ...views } = { ...DESIGN.views, byCountry: { map, reduce: '_sum' } }
  await other.put({ _id: DESIGN._id, views })
  return other
}

test('the views of a design document answer what PouchDB answers on the same documents', async () => {
  const other = await pouch()
  const { views } = functionsOf()
  const rowsOf = async (name: string, ours: object, theirs: object): Promise<void> => {
    const mine = await cities.view(name, views.get(name)!.definition as never).query(ours as never)
    const expected = await other.query(`cities/${name}`, theirs)
    expect((mine as { rows: unknown }).rows).toEqual(expected.rows)
  }
  await rowsOf('byCountry', { reduce: false }, { reduce: false })
  await rowsOf('byCountry', {}, {})
  await rowsOf('byCountry', { group: true }, { group: true })
  await rowsOf('byCountry', { group: 1 }, { group_level: 1 })
  await rowsOf('plain', { gte: 0, descending: true, limit: 20 }, { endkey: 0, descending: true, limit: 20 })
  await rowsOf('largest', { group: true }, { group: true })
  await rowsOf('largest', {}, {})
  const linked = await cities.view('linked', views.get('linked')!.definition as never).query({ docs: true })
  const expected = await other.query('cities/linked', { include_docs: true })
  const idsOf = (rows: readonly { id?: unknown; doc?: { _id: string } | null | undefined }[]): unknown[] =>
    rows.map(({ id, doc }) => [id, doc?._id])
  expect(idsOf(linked.rows as never)).toEqual(idsOf(expected.rows as never))
  await other.destroy()
})

test('a document that the map function fails for is left out, and logged', async () => {
  const { views } = functionsOf()
  const view = cities.view('fragile', views.get('fragile')!.definition as never)
  await view.drop()
  logged.length = 0
  await view.update()
  expect(await view.info()).toMatchObject({ rows: 100, failures: 200 })
  expect(logged).toHaveLength(200)
})

test('the version of a view changes with what it is made of, and with nothing else', () => {
  const versionOf = (views: object): unknown =>
    designFunctions({ _id: '_design/a', views } as JsonObject, sandbox, 'epoch').views.get('v')!.definition.version
  const v = { map: 'function (doc) { emit(1) }' }
  expect(versionOf({ v })).toBe(versionOf({ v, w: { map: 'other' } }))
  expect(versionOf({ v })).not.toBe(versionOf({ v, lib: { a: '1' } }))
  expect(versionOf({ v })).not.toBe(versionOf({ v: { map: v.map + ' ' } }))
})

describe('functions that are broken', () => {
  test('a map function that does not compile: the query fails, nothing is stored as built', async () => {
    const { views, check } = functionsOf({ _id: '_design/bad', views: { bad: { map: 'function (doc) {' } } })
    await expect(check('all')).rejects.toThrow('views/bad/map')
    const view = cities.view('bad', views.get('bad')!.definition as never)
    await expect(view.query()).rejects.toMatchObject({ code: 'PANNIER_ABORTED', cause: { kind: 'failed' } })
    expect(await view.info()).toMatchObject({ rows: 0, updateSeq: 0 })
  })

  test('one that loops for some documents leaves these out; one that loops for many is given up', async () => {
    const mapOf = (condition: string): JsonObject => ({
      _id: '_design/loop',
      views: { loop: { map: `function (doc) { if (${condition}) for (;;); emit(doc._id) }` } },
    })
    const few = cities.view('few', functionsOf(mapOf("doc._id === 'city-7'")).views.get('loop')!.definition as never)
    expect((await few.query()).rows).toHaveLength(299)
    const many = functionsOf(mapOf('doc.people > 10')).views.get('loop')!.definition
    logged.length = 0
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(cities.view('many', many as never).query()).rejects.toMatchObject({ cause: { kind: 'budget' } })
    // It was not tried again.
    expect(logged).toHaveLength(1)
  })
})

describe('filters', () => {
  test('pass documents by what the request says; one that fails is an error', async () => {
    const { filters } = functionsOf()
    const request = { query: { least: '500' } } as never
    const documents = [{ people: 400 }, { people: 500 }, { people: 600 }]
    expect(await filters.get('large')!(documents, request)).toEqual([false, true, true])
    const broken = filters.get('broken')!
    expect(await broken([{ mayor: { name: 1 } }], request)).toEqual([true])
    await expect(broken([{ mayor: { name: 1 } }, {}], request)).rejects.toMatchObject({ kind: 'failed' })
  })

  test('filter=_view passes what the map function emits something for', async () => {
    const { views } = functionsOf()
    expect(await views.get('linked')!.emits([{ name: 'a' }, { name: 'b', capital: 'c' }])).toEqual([false, true])
  })

  test('CVE-2023-45725: filter functions see no cookie and no credentials', () => {
    const headers = {
      cookie: 'AuthSession=secret',
      authorization: 'Basic secret',
      'x-auth-couchdb-token': 'secret',
      host: 'a',
    }
    const reader = { method: 'GET', path: ['db', '_changes'], query: { a: '1' }, headers }
    const principal = { ...GUEST, ...user, address: '10.1.2.3' }
    const seen = filterContext({ principal, reader, database: 'db' } as never, {})
    expect(JSON.stringify(seen)).not.toContain('secret')
    expect(JSON.stringify(seen)).not.toContain('10.1.2.3')
    expect(seen).toMatchObject({ query: { a: '1' }, userCtx: { name: 'ann' }, cookie: {} })
  })
})

describe('validate_doc_update', () => {
  const { validate } = {
    validate: async (...args: unknown[]) => functionsOf().validate!(...(args as [never, never, never, never])),
  }

  test('lets pass, forbids, and asks to log in', async () => {
    await expect(validate({ name: 'a' }, undefined, user, {})).resolves.toBeUndefined()
    await expect(validate({ name: 'a' }, { name: 'b' }, user, {})).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'cities keep their names',
    })
    await expect(validate({}, undefined, { ...user, roles: [] }, {})).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'no editor',
    })
    await expect(validate({}, undefined, { ...user, name: null }, {})).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
    await expect(validate({}, undefined, user, { locked: 'locked' })).rejects.toMatchObject({ message: 'locked' })
  })

  test('one that fails or loops refuses the document', async () => {
    await expect(validate({ crash: true }, undefined, user, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(validate({ loop: true }, undefined, user, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})

test('other languages have no functions here; odd names harm nobody', () => {
  const none = functionsOf({ ...DESIGN, language: 'query' })
  expect([none.views.size, none.filters.size, none.validate]).toEqual([0, 0, undefined])
  const odd = JSON.parse(
    '{"_id":"_design/o","views":{"__proto__":{"map":"doc => 1"},"x":null,"y":{"map":3}},"filters":[]}',
  ) as JsonObject
  expect([...functionsOf(odd).views.keys()]).toEqual(['__proto__'])
})
