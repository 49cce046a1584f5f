/** Collections with records in a database in memory, and those who read them. */
import { createSchema, type Schema } from '@pannier/rules'
import { open, type Database } from 'pannier'
import { environmentOf, relateRecords } from 'pannier/internal'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import type { Actor } from '../../../src/access/actor.ts'
import type { KnownDefinitions } from '../../../src/access/rule-records.ts'
import { completeDefinition, newDefinition } from '../../../src/definitions/complete-definition.ts'
import { recordsName, type Definition } from '../../../src/definitions/definition.ts'
import { isMany } from '../../../src/fields/field-definition.ts'
import { castValue } from '../../../src/fields/field-types.ts'
import type { JsonObject } from '../../../src/gateway/documents.ts'
import { GUEST, type Principal } from '../../../src/gateway/principal.ts'
import { RecordReads } from '../../../src/records/record-reads.ts'
import { testModel } from '../../test-model.ts'
import { accessOf } from '../world.ts'

export type Records = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** Definitions that a test may change at once. */
export class TestDefinitions implements KnownDefinitions {
  #all: readonly Definition[] = []
  schema: Schema = createSchema([])

  constructor(inputs: readonly object[]) {
    for (const input of inputs) this.change((input as { name: string }).name, input)
  }

  all(): readonly Definition[] {
    return this.#all
  }

  find(nameOrId: string): Definition | undefined {
    return this.#all.find(({ id, name }) => id === nameOrId || name.toLowerCase() === nameOrId.toLowerCase())
  }

  /** Adds a definition, or sets what is given in it. */
  change(name: string, input: object): void {
    const old = this.find(name)
    const made = old === undefined ? completeDefinition(newDefinition(input, CHANCE)) : { ...old, ...input }
    this.#all = [...this.#all.filter((definition) => definition !== old), made as Definition]
    this.schema = createSchema(this.#all)
  }
}

export interface World extends AsyncDisposable {
  readonly database: Database
  readonly definitions: TestDefinitions
  readonly reads: RecordReads
}

/** Neither the beginning of a day nor that of a year. */
const NOON_MS = Date.UTC(2026, 10, 22, 12)
const CHANCE = virtualEnvironment()
const SUPERUSERS = { id: 'pbc_3142635823', name: '_superusers', type: 'auth', fields: [] }

export async function makeWorld(
  definitions: readonly object[],
  records: Records,
  opened: Promise<Database> = open('world', {
    storage: memory(),
    environment: virtualEnvironment({ startMs: NOON_MS }),
  }),
): Promise<World> {
  const database = await opened
  const known = new TestDefinitions([...definitions, SUPERUSERS])
  for (const [name, rows] of Object.entries(records)) {
    const definition = known.find(name)!
    const collection = database.collection<JsonObject>(recordsName(definition))
    await collection.insert(rows.map((row) => storedRecord(definition, row)))
  }
  const relations = known.all().map((definition) => [
    recordsName(definition),
    Object.fromEntries(
      definition.fields.flatMap((field) =>
        field.type === 'relation'
          ? [
              [
                field.name,
                {
                  to: recordsName({ id: field.collectionId }),
                  many: isMany(field),
                  cascade: field.cascadeDelete,
                  required: field.required,
                },
              ],
            ]
          : [],
      ),
    ),
  ])
  await relateRecords(database, Object.fromEntries(relations))
  const environment = environmentOf(database)
  const { viewReader } = testModel(database, known)
  const access = accessOf(known, environment)
  const reads = new RecordReads({ database, environment, definitions: known, access, viewReader })
  return { database, definitions: known, reads, [Symbol.asyncDispose]: () => database.close() }
}

/** As a write stores what is sent. */
function storedRecord({ fields }: Definition, { id, ...input }: Readonly<Record<string, unknown>>): JsonObject {
  const values = fields
    .filter(({ name }) => name in input)
    .map((field) => [field.name, castValue(field, input[field.name])])
  return { ...Object.fromEntries(values), _id: id as string }
}

/** A guest, a superuser, or the account of a record. */
export function actorOf(
  as: 'guest' | 'super' | { readonly collection: string; readonly record: Readonly<Record<string, unknown>> },
  request: Partial<Actor['request']> = {},
): Actor {
  const principal =
    as === 'guest'
      ? GUEST
      : as === 'super'
        ? account(SUPERUSERS.id, { id: 'su'.padEnd(15, 'x') }, true)
        : account(as.collection, as.record, false)
  return { principal, request: { context: 'default', method: 'GET', query: {}, headers: {}, ...request } }
}

function account(
  collection: string,
  { id, ...fields }: Readonly<Record<string, unknown>>,
  isAdmin: boolean,
): Principal {
  const record = { ...fields, _id: id }
  return { name: String(id), roles: [], isAdmin, by: 'token', account: { collection, record } }
}
