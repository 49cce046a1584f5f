/**
 * Goal: each list is what remains of all records if `evaluate` is asked about each, and each total is their number. Method:
 * random applications and requests; the model filters, sorts and cuts arrays.
 */
import { evaluate, type RuleRecord } from '@pannier/rules'
import { compareSortValues, sortValues } from '@pannier/rules/compile'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../../db/testing/random.ts'
import { recordsOf } from '../../../../rules/test/answer.ts'
import type { Actor } from '../../../src/access/actor.ts'
import { ServiceError } from '../../../src/gateway/service-error.ts'
import type { ListOptions } from '../../../src/records/record-types.ts'
import { askedOf } from './parity/answer.ts'
import { randomApp, randomRequest, type RandomApp } from './random-app.ts'
import { makeWorld, type TestDefinitions } from './read-world.ts'
import { accessOf } from '../world.ts'

const RECORDS_MAX = 60
const REQUESTS = 150

function expected(
  { records }: RandomApp,
  definitions: TestDefinitions,
  actor: Actor,
  name: string,
  { filter = '', sort = '', page = 1, perPage = 30 }: ListOptions,
): { readonly ids: readonly unknown[]; readonly total: number } {
  const keys = sort.split(',')
  const bound = accessOf(definitions, virtualEnvironment()).bindList(actor, definitions.find(name)!, {
    action: 'list',
    filter,
    sort: keys.map((key) => key.replace('-', '')),
  })
  const world = recordsOf(records)
  const values = new Map<RuleRecord, readonly unknown[]>()
  for (const record of records[name]!)
    if (evaluate(bound, record, world) === true) values.set(record, sortValues(bound, record, world))
  const descending = keys.map((key) => key.startsWith('-'))
  const found = [...values].toSorted(([, one], [, other]) => compareSortValues(one, other, descending))
  const shown = found.slice((page - 1) * perPage, page * perPage)
  return { ids: shown.map(([record]) => record['id']), total: found.length }
}

test('a list is what evaluate leaves of all records, in the order of the sort, and its total is their number', async () => {
  let [asked, found] = [0, 0]
  for (const seed of seedsOf('model')) {
    const random = seededRandom(seed)
    const app = randomApp(random, RECORDS_MAX)
    await using world = await makeWorld(app.definitions, app.records)
    for (let i = 0; i < REQUESTS; i++) {
      const request = randomRequest(random, app)
      const { actor, collection, options } = askedOf(app.records, request)
      let list
      try {
        const { items, totalItems } = await world.reads.list(actor, collection, options)
        list = { ids: items.map((item) => item['id']), total: totalItems }
      } catch (error) {
        if (error instanceof ServiceError) continue
        throw error
      }
      expect([seed, request, list]).toEqual([
        seed,
        request,
        expected(app, world.definitions, actor, collection, options),
      ])
      asked++
      if (list.total > 0 && list.total < app.records[collection]!.length) found++
    }
  }
  // Many of the lists leave something out.
  expect(found / asked).toBeGreaterThan(0.1)
})
