/**
 * Random queries over relations, compared with the evaluator that goes row by row. The storage answers late, warm and cold. Indexes
 * come and go, and transactions change several collections meanwhile.
 */
import { afterEach, expect, test } from 'vitest'
import { open, type Database, type Query } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { COLUMNS_USE } from '../../src/query/query-source.ts'
import { parseRelated } from '../../src/relations/parse-related.ts'
import { RELATED_VALUES } from '../../src/relations/related-values.ts'
import { RelationModel, type ModelSchema } from '../../testing/evaluate-relations.ts'
import type { Document } from '../../testing/query-fixture.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import {
  randomRelated,
  randomRelationQuery,
  randomSchema,
  relationInputs,
  type RelationQuery,
} from '../../testing/relation-cases.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const QUERIES = 60
const DOCUMENTS = 14
const INDEXES = ['x', 'y', { on: 'tags', multi: true }, ['x', '_id']]

const columnsUsually = { ...COLUMNS_USE }
const valuesUsually = { ...RELATED_VALUES }
afterEach(() => {
  Object.assign(COLUMNS_USE, columnsUsually)
  Object.assign(RELATED_VALUES, valuesUsually)
})

type World = Record<string, Map<string, Document>>

for (const seed of seedsOf('model', 6))
  test(`queries over relations agree with the naive evaluator (SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    if (random.chance(0.5)) Object.assign(COLUMNS_USE, { documentsMin: 0, costShareMin: 0 })
    if (random.chance(0.3)) Object.assign(RELATED_VALUES, { heldMax: 5 })
    const schema = randomSchema(random)
    const storage = slow(memory(), seed)
    const collections = Object.fromEntries(
      Object.entries(schema).map(([name, relations]) => [
        name,
        { relations: relationInputs(relations), indexes: INDEXES.filter(() => random.chance(0.3)) },
      ]),
    )
    const reopen = async (): Promise<Database> => (await open('db', { storage, collections })) as Database
    const world: World = Object.fromEntries(Object.keys(schema).map((name) => [name, new Map()]))
    let db = await reopen()
    for (let written = 0; written < DOCUMENTS * 3; written += 7) await write(db, world, random, schema, 7)
    for (let at = 0; at < QUERIES; at++) {
      if (at % 20 === 10) {
        await db.flush()
        await db.close()
        db = await reopen()
      }
      if (at === 30) await dropIndexes(db, schema, random)
      await check(db, world, random, schema, randomRelationQuery(random, schema))
    }
    await db.close()
  })

/** A transaction over all collections, in the store and then in the world. */
async function write(db: Database, world: World, random: Random, schema: ModelSchema, count: number): Promise<void> {
  const changes = Array.from({ length: count }, () => {
    const name = random.pick(Object.keys(schema))
    return { name, document: randomRelated(random, schema[name]!), deletes: random.chance(0.15) }
  })
  await db.transaction(async (tx) => {
    for (const { name, document, deletes } of changes)
      await (deletes ? tx.collection(name).delete(document._id) : tx.collection(name).upsert(document))
  })
  for (const { name, document, deletes } of changes) {
    if (deletes) world[name]!.delete(document._id)
    else world[name]!.set(document._id, document)
  }
}

async function dropIndexes(db: Database, schema: ModelSchema, random: Random): Promise<void> {
  for (const name of Object.keys(schema))
    for (const index of await db.collection(name).indexes())
      if (random.chance(0.5)) await db.collection(name).dropIndex(index.name)
}

/** The answer must be that of one state between the call and the end, whole. */
async function check(
  db: Database,
  world: World,
  random: Random,
  schema: ModelSchema,
  query: RelationQuery,
): Promise<void> {
  const models = [modelOf(world, schema)]
  const { collection, selector, sort, skip, limit, populate } = query
  const kind = random.pick(['rows', 'count', 'page'] as const)
  let asked = db.collection(collection).find(selector as never)
  if (sort.length > 0) asked = asked.sort(...(sort as never[]))
  if (skip > 0) asked = asked.skip(skip)
  if (limit !== undefined) asked = asked.limit(limit)
  if (populate.length > 0) asked = asked.populate(...populate) as unknown as typeof asked
  const writes = async (): Promise<void> => {
    for (let at = random.below(4); at > 0; at--) {
      await write(db, world, random, schema, 3)
      models.push(modelOf(world, schema))
    }
  }
  // A commit may be seen before the writer hears that it has succeeded.
  const [answer] = await Promise.all([answerOf(asked, kind), writes()])
  const wanted = models.map((model) => expected(model, query))
  const agrees = ({ count, agrees: areRows }: Expected): boolean =>
    (answer.total ?? count) === count && (answer.rows === undefined || areRows(answer.rows))
  if (wanted.some(agrees)) return
  const [{ count, rows }] = wanted as [Expected]
  expect({ query, ...answer }).toEqual({
    query,
    total: answer.total === undefined ? undefined : count,
    rows: answer.rows === undefined ? undefined : rows,
  })
  throw new Error(`The order is wrong: ${JSON.stringify({ query, answer, rows })}`)
}

interface Answer {
  readonly rows: readonly Document[] | undefined
  readonly total: number | undefined
}

async function answerOf(query: Query<object>, kind: 'rows' | 'count' | 'page'): Promise<Answer> {
  if (kind === 'count') return { rows: undefined, total: await query.count() }
  if (kind === 'rows') return { rows: (await query.toArray()) as Document[], total: undefined }
  const { rows, total } = await query.page()
  return { rows: rows as Document[], total }
}

function modelOf(world: World, schema: ModelSchema): RelationModel {
  const documents = Object.entries(world).map(([name, all]) => [name, [...all.values()]] as const)
  return new RelationModel(schema, Object.fromEntries(documents))
}

interface Expected {
  readonly count: number
  readonly rows: readonly Document[]
  agrees(answer: readonly Document[]): boolean
}

function expected(
  model: RelationModel,
  { collection, selector, sort, skip, limit = Infinity, populate }: RelationQuery,
): Expected {
  const all = model.matching(collection, parseRelated(selector))
  const window = model.sorted(collection, all, sort).slice(skip, skip + limit)
  const byId = new Map(all.map((document) => [document._id, document]))
  const paths = populate.map((path) => path.split('.'))
  const keys = (rows: readonly Document[]): string => JSON.stringify(model.keysOf(collection, rows, sort))
  const isWhole = (row: Document): boolean => {
    const document = byId.get(row._id)
    return document !== undefined && plain(row) === plain(model.populated(collection, document, paths))
  }
  return {
    count: all.length,
    rows: window,
    // Ties of the sort come in any order: the keys must agree, and each row must be one of those that match.
    agrees: (answer) => {
      const matching = answer.map(({ _id }) => byId.get(_id)).filter((document) => document !== undefined)
      return (
        new Set(matching).size === answer.length &&
        keys(matching) === keys(window) &&
        answer.every((row) => isWhole(row))
      )
    },
  }
}

/** Text that is equal for equal documents, whatever their revisions. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    const entries = Object.entries(inner).filter(([name]) => name !== '_rev')
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
  })
}
