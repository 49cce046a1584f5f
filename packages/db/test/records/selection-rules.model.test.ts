/**
 * Goal: a compiled rule as a query gives the records that the evaluator admits, with columns and without, with relations and their
 * indexes and without, in a transaction and outside. Method: the cases that PocketBase has answered, and random rules on random
 * records, some without values.
 */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { strideOf, times } from '../../../../tools/test/seeds.ts'
import { compile } from '../../../rules/src/compile.ts'
import { bind, evaluate, parse, RuleError } from '../../../rules/src/index.ts'
import type { BoundRule, RuleRecord } from '../../../rules/src/index.ts'
import { boundOf, recordsOf, SCHEMA, type World } from '../../../rules/test/answer.ts'
import { CASES, lineOf } from '../../../rules/test/cases.ts'
import { rule, world } from '../../../rules/test/random-world.ts'
import { RECORDS } from '../../../rules/test/world.ts'
import type { Database } from '../../src/index.ts'
import { selectionQuery } from '../../src/internal.ts'
import type { TransactionCollection } from '../../src/database/collection/collection-operations.ts'
import { COLUMNS_USE } from '../../src/query/query-source.ts'
import { admits, RELATIONS, TEXT, worldDatabase } from './rules-world.ts'

const usually = { ...COLUMNS_USE }
afterEach(() => void Object.assign(COLUMNS_USE, usually))

interface Answer {
  readonly ids: readonly string[]
  readonly total: number
  readonly page: readonly string[]
}

async function answered(collection: TransactionCollection<object>, bound: BoundRule, data: World): Promise<Answer> {
  const { selection, isExact } = compile(bound, recordsOf(data))
  const residual = isExact ? {} : { residual: admits.bind(undefined, bound) }
  const query = selectionQuery(collection, selection, { ...residual, textOf: () => TEXT }).sort('_id')
  const ids = (await query.toArray()).map(({ _id }) => _id)
  const { rows, total } = await query.skip(1).limit(2).page()
  expect(await query.count()).toBe(total)
  return { ids, total, page: rows.map(({ _id }) => _id) }
}

function expected(bound: BoundRule, data: World): Answer {
  const records = recordsOf(data)
  const ids = data[bound.collection.name]!.filter((record) => evaluate(bound, record, records) === true)
    .map(({ id }) => id as string)
    .sort()
  return { ids, total: ids.length, page: ids.slice(1, 3) }
}

/** `part`: each of the two takes every second case, and with EFFORT all of them. */
async function compareCases(db: Database, part: 0 | 1): Promise<void> {
  const stride = strideOf(2)
  for (const each of CASES.filter(({ write }, at) => write === undefined && at % stride === part % stride)) {
    let bound: BoundRule
    try {
      bound = boundOf(each)
    } catch (error) {
      if (error instanceof RuleError) continue
      throw error
    }
    const found = await answered(db.collection<object>(each.on), bound, RECORDS)
    expect([lineOf(each), found]).toEqual([lineOf(each), expected(bound, RECORDS)])
  }
}

test('queries answer the cases of PocketBase, with relations', async () => {
  const db = await worldDatabase(RECORDS, RELATIONS)
  await compareCases(db, 0)
  await db.close()
})

test('queries answer the cases of PocketBase, without relations and with columns', async () => {
  Object.assign(COLUMNS_USE, { documentsMin: 0, costShareMin: 0 })
  const db = await worldDatabase(RECORDS, undefined)
  await compareCases(db, 1)
  await db.close()
})

/** Records without some values that are empty. */
function withoutEmpty(data: World, drops: readonly boolean[]): World {
  let at = 0
  const isKept = (name: string, value: unknown): boolean =>
    name === 'id' || (value !== '' && !(Array.isArray(value) && value.length === 0)) || !drops[at++ % drops.length]
  return Object.fromEntries(
    Object.entries(data).map(([name, records]) => [
      name,
      records.map((record): RuleRecord =>
        Object.fromEntries(Object.entries(record).filter(([field, value]) => isKept(field, value))),
      ),
    ]),
  )
}

test('queries by random rules', async () => {
  const db = await worldDatabase({}, RELATIONS)
  const drops = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 })
  await fc.assert(
    fc.asyncProperty(
      world,
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      drops,
      fc.boolean(),
      async (full, rules, dropped, columns) => {
        Object.assign(COLUMNS_USE, columns ? { documentsMin: 0, costShareMin: 0 } : usually)
        const data = withoutEmpty(full, dropped)
        for (const [name, records] of Object.entries(data))
          await db.collection(name).upsert(records.map(({ id, ...fields }) => ({ _id: id as string, ...fields })))
        for (const written of rules) {
          const bound = bind({
            now: new Date(0),
            schema: SCHEMA,
            collection: 'posts',
            rule: parse(written),
            request: {},
          })
          const found = await answered(db.collection<object>('posts'), bound, data)
          expect([written, found]).toEqual([written, expected(bound, data)])
          const inside = await db.transaction((tx) => answered(tx.collection<object>('posts'), bound, data))
          expect(inside).toEqual(found)
        }
      },
    ),
    { numRuns: times(50) },
  )
  await db.close()
})
