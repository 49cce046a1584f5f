/** Live queries that follow relations show what fresh ones answer, after any commits to any of the collections. */
import { expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { randomRelated, randomRelationQuery, randomSchema, relationInputs } from '../../testing/relation-cases.ts'
import type { ModelSchema } from '../../testing/evaluate-relations.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const LIVE = 8
const ROUNDS = 6

for (const seed of seedsOf('model', 6))
  test(`live queries over relations equal fresh ones (SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const schema = randomSchema(random)
    const collections = Object.fromEntries(
      Object.entries(schema).map(([name, relations]) => [name, { relations: relationInputs(relations) }]),
    )
    const storage = slow(memory(), seed)
    const db = (await open('db', { storage, collections })) as Database
    const other = (await open('db', { storage, collections })) as Database
    await commit(db, random, schema, 20)
    const queries = Array.from({ length: LIVE }, () => randomQuery(db, random, schema))
    const shown = queries.map((query) => ({ query, rows: query.live(), count: query.liveCount() }))
    await Promise.all(shown.flatMap(({ rows, count }) => [rows.ready, count.ready]))
    const under: Promise<unknown>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (let commits = random.below(3); commits >= 0; commits--) {
        const handle = random.chance(0.3) ? other : db
        const own = random.fork()
        const done = random.chance(0.05) ? remove(handle, own, schema) : commit(handle, own, schema, 2)
        // Of commits under way at once each may be shown alone.
        under.push(done)
        if (random.chance(0.5)) await done
      }
      await Promise.all(under)
      for (const { query, rows, count } of shown) {
        const fresh = JSON.stringify(await query.toArray())
        await until(
          () => JSON.stringify(rows.value) === fresh,
          () => expect(rows.value).toEqual(JSON.parse(fresh)),
        )
        const total = await query.count()
        await until(
          () => count.value === total,
          () => expect(count.value).toBe(total),
        )
      }
    }
    for (const { rows, count } of shown) {
      rows.close()
      count.close()
    }
    await db.close()
    await other.close()
  })

/** In a total order, so that there is one answer. */
function randomQuery(
  db: Database,
  random: Random,
  schema: ModelSchema,
): ReturnType<ReturnType<Database['collection']>['find']> {
  const { collection, selector, sort, skip, limit, populate } = randomRelationQuery(random, schema)
  const total = [...sort.filter((field) => !field.endsWith('_id') || field.includes('.')), '_id']
  let query = db
    .collection(collection)
    .find(selector as never)
    .sort(...(total as never[]))
  if (skip > 0) query = query.skip(skip)
  if (limit !== undefined) query = query.limit(limit)
  return populate.length > 0 ? (query.populate(...populate) as unknown as typeof query) : query
}

/** What documents do not tell: a collection that is dropped, and documents that are purged. */
async function remove(db: Database, random: Random, schema: ModelSchema): Promise<void> {
  const name = random.pick(Object.keys(schema))
  if (random.chance(0.3)) await db.dropCollection(name)
  else await db.collection(name).purge(`d${random.below(12)}`)
}

async function commit(db: Database, random: Random, schema: ModelSchema, count: number): Promise<void> {
  await db.transaction(async (tx) => {
    for (let at = 0; at < count; at++) {
      const name = random.pick(Object.keys(schema))
      const document = randomRelated(random, schema[name]!)
      await (random.chance(0.2) ? tx.collection(name).delete(document._id) : tx.collection(name).upsert(document))
    }
  })
}

const TURNS_MAX = 20_000

async function until(holds: () => boolean, fail: () => void): Promise<void> {
  for (let turns = 0; turns < TURNS_MAX; turns++) {
    if (holds()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  fail()
}
