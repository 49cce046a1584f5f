/**
 * Goal: whatever becomes of definitions, records keep the values of the fields that stay, and indexes and relations follow.
 * Method: random changes and writes beside a naive model that has values by the ids of fields; the database is opened again at times.
 */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import type { Definition } from '../../src/definitions/definition.ts'
import type { Definitions } from '../../src/definitions/definitions.ts'
import { libraryIndexesOf } from '../../src/definitions/library-index.ts'
import { castValue, emptyValue } from '../../src/fields/field-types.ts'
import { isMany, type FieldDefinition } from '../../src/fields/field-definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { modelledDefinitions } from '../test-model.ts'

const STEPS = 60
const NAMES = ['a', 'b', 'c', 'd', 'e'] as const
const COLLECTIONS = ['one', 'two', 'three', 'four'] as const

/** Values by the ids of fields, by the id of the record. */
type Records = Map<string, Map<string, unknown>>

interface ModelCollection {
  readonly id: string
  name: string
  fields: readonly JsonObject[]
  indexes: readonly string[]
  readonly records: Records
}

for (const seed of seedsOf('model', 4))
  test(`seed ${seed}`, async () => {
    const random = seededRandom(seed)
    const storage = memory()
    let db = await open('model', { storage })
    let definitions = await modelledDefinitions(db)
    const model = new Map<string, ModelCollection>()
    for (let step = 0; step < STEPS; step++) {
      await change(random, definitions, model)
      if (random.chance(0.1)) {
        await definitions.close()
        await db.close()
        db = await open('model', { storage })
        definitions = await modelledDefinitions(db)
      }
      await compare(db, definitions, model)
    }
    await db.close()
  })

async function change(random: Random, definitions: Definitions, model: Map<string, ModelCollection>): Promise<void> {
  const collection = model.size === 0 ? undefined : random.pick([...model.values()])
  const kind = random.below(10)
  if (collection === undefined || kind === 0) return createCollection(random, definitions, model)
  const definition = definitions.get(collection.id)
  if (kind === 1 && random.chance(0.3)) return deleteCollection(definitions, model, collection)
  if (kind === 2 && random.chance(0.3)) {
    await definitions.truncate(SYSTEM, collection.name)
    collection.records.clear()
    return
  }
  if (kind < 6) return writeRecord(random, definitions, definition, collection)
  const fields = changedFields(random, collection.fields)
  const name = random.chance(0.2) ? random.pick(COLLECTIONS) : collection.name
  await update(definitions, collection, { name, fields, indexes: indexesFor(random, name, fields) })
}

async function createCollection(
  random: Random,
  definitions: Definitions,
  model: Map<string, ModelCollection>,
): Promise<void> {
  const name = random.pick(COLLECTIONS)
  const input = { id: `id${random.below(1e9)}`, name, fields: [fieldOf(random, 'a'), fieldOf(random, 'b')] }
  const made = await unlessRefused(() => definitions.create(SYSTEM, input))
  expect(made === undefined).toBe([...model.values()].some((other) => other.name === name))
  if (made !== undefined) model.set(made.id, { ...input, indexes: [], records: new Map() })
}

async function deleteCollection(
  definitions: Definitions,
  model: Map<string, ModelCollection>,
  { id, name }: ModelCollection,
): Promise<void> {
  await definitions.delete(SYSTEM, name)
  model.delete(id)
}

function fieldOf(random: Random, name: string): JsonObject {
  const id = `f${random.below(1e9)}`
  const type = random.pick(['text', 'number', 'select', 'json', 'bool'])
  if (type !== 'select') return { id, name, type }
  return { id, name, type, values: ['x', 'y', 'z'], maxSelect: random.pick([1, 2, 3]) }
}

function changedFields(random: Random, old: readonly JsonObject[]): readonly JsonObject[] {
  const kept = old.filter(() => random.chance(0.85))
  const free = NAMES.filter((name) => !kept.some((field) => field['name'] === name))
  const added = free.filter(() => random.chance(0.2)).map((name) => fieldOf(random, name))
  const fields = [...kept, ...added].map((field) =>
    field['type'] === 'select' && random.chance(0.3) ? { ...field, maxSelect: random.pick([1, 2, 3]) } : field,
  )
  if (!random.chance(0.4)) return fields
  // Names go round, so that fields swap them.
  const names = fields.map(({ name }) => name)
  return fields.map((field, place) => ({ ...field, name: names[(place + 1) % names.length] }))
}

function indexesFor(random: Random, name: string, fields: readonly JsonObject[]): readonly string[] {
  return fields
    .filter(() => random.chance(0.4))
    .map((field) => {
      const unique = random.chance(0.5) ? 'UNIQUE ' : ''
      return `CREATE ${unique}INDEX i_${String(field['id'])} ON ${name} (${String(field['name'])})`
    })
}

/** Refused if the name is taken, or if values are not unique. */
async function update(
  definitions: Definitions,
  collection: ModelCollection,
  input: Pick<ModelCollection, 'name' | 'fields' | 'indexes'>,
): Promise<void> {
  const others = definitions.all().filter(({ id }) => id !== collection.id)
  const before = definitions.get(collection.id)
  const after = migrated(collection.records, before, input.fields)
  const isTaken = others.some(({ name }) => name === input.name)
  const isRefused = isTaken || input.indexes.some((index) => isViolated(index, input.fields, after))
  const made = await unlessRefused(() => definitions.update(SYSTEM, collection.id, input))
  expect(made === undefined, JSON.stringify(input)).toBe(isRefused)
  if (made === undefined) return
  Object.assign(collection, input)
  collection.records.clear()
  for (const [id, values] of after) collection.records.set(id, values)
}

function migrated(records: Records, before: Definition, fields: readonly JsonObject[]): Records {
  const old = new Map(before.fields.map((field) => [field.id, field]))
  return new Map(
    Array.from(records, ([id, values]) => {
      const entries = fields.map((input): [string, unknown] => {
        const field = input as unknown as FieldDefinition
        const was = old.get(field.id)
        if (was === undefined) return [field.id, emptyValue(field)]
        const value = values.get(field.id)
        if (isMany(was) === isMany(field)) return [field.id, value]
        const list = [value].flat().filter((each) => each !== '')
        return [field.id, isMany(field) ? list : (list.at(-1) ?? '')]
      })
      return [id, new Map(entries)]
    }),
  )
}

function isViolated(index: string, fields: readonly JsonObject[], records: Records): boolean {
  if (!index.startsWith('CREATE UNIQUE')) return false
  const id = /i_(\w+)/.exec(index)![1]!
  expect(fields.some((field) => field['id'] === id)).toBe(true)
  // JSON's null is SQLite's NULL, which is like no other.
  const keys = Array.from(records.values(), (values) => JSON.stringify(values.get(id))).filter((key) => key !== 'null')
  return new Set(keys).size < keys.length
}

/** As the writer of records does, with values of every field. */
async function writeRecord(
  random: Random,
  definitions: Definitions,
  definition: Definition,
  collection: ModelCollection,
): Promise<void> {
  const id = `record${random.below(12)}`
  const values = new Map<string, unknown>()
  for (const field of definition.fields) if (field.name !== 'id') values.set(field.id, valueFor(random, field))
  const document = Object.fromEntries(
    definition.fields.flatMap((field) => (field.name === 'id' ? [] : [[field.name, values.get(field.id)]])),
  )
  const after: Records = new Map([...collection.records, [id, values]])
  const isRefused = collection.indexes.some((index) => isViolated(index, collection.fields, after))
  let isWritten = true
  try {
    await definitions.records(definition).upsert({ ...document, _id: id })
  } catch (error) {
    expect(error).toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
    isWritten = false
  }
  expect(isWritten).toBe(!isRefused)
  if (isWritten) collection.records.set(id, values)
}

function valueFor(random: Random, field: FieldDefinition): unknown {
  switch (field.type) {
    case 'number':
      return random.below(50)
    case 'bool':
      return random.chance(0.5)
    case 'select':
      return castValue(field, random.chance(0.3) ? [] : ['x', 'y', 'z'].filter(() => random.chance(0.5)))
    case 'json':
      return random.pick([null, { x: random.below(5) }, [random.below(5)], 'text'])
    default:
      return random.pick(['', 'x', `text ${random.below(50)}`])
  }
}

async function unlessRefused<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INVALID') return undefined
    throw error
  }
}

async function compare(
  db: Database,
  definitions: Definitions,
  model: ReadonlyMap<string, ModelCollection>,
): Promise<void> {
  const shown = definitions.all().filter(({ system, name }) => !system && name !== 'users')
  expect(shown.map(({ id }) => id)).toEqual([...model.keys()])
  for (const { id, name, fields, indexes, records } of model.values()) {
    const definition = definitions.get(name)
    expect(definition.fields.map((field) => field.id).slice(1)).toEqual(fields.map((field) => field['id']))
    const stored = await definitions.records(definition).find({}).toArray()
    const wanted = Array.from(records, ([recordId, values]) => ({
      _id: recordId,
      ...Object.fromEntries(fields.map((field) => [field['name'], values.get(field['id'] as string)])),
    }))
    expect(byId(stored.map(({ _rev, ...document }) => document))).toEqual(byId(wanted))
    const built = (await definitions.records(definition).indexes()).map((index) => index.name)
    expect(built.toSorted()).toEqual(
      libraryIndexesOf(definition)
        .map((index) => index.name)
        .toSorted(),
    )
    expect(built).toHaveLength(indexes.length)
    expect(id).toBe(definition.id)
  }
  const collections = (await db.collections()).filter((name) => name.startsWith('$records_id'))
  expect(collections).toEqual(Array.from(model.keys(), (id) => `$records_${id}`).toSorted())
}

function byId(documents: readonly JsonObject[]): readonly JsonObject[] {
  return documents.toSorted((one, other) => (String(one['_id']) < String(other['_id']) ? -1 : 1))
}
