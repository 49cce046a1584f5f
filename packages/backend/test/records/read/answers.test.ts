/**
 * Goal: lists are those of PocketBase. Method: the cases of packages/rules, whose answers the real PocketBase gave, asked
 * through the reads of this package.
 */
import { expect, test } from 'vitest'
import { CASES, DEPARTURES, type Case } from '../../../../rules/test/cases.ts'
import golden from '../../../../rules/test/golden/answers.json' with { type: 'json' }
import { namesOf } from '../../../../rules/test/pocketbase.ts'
import { DEFINITIONS, id, RECORDS } from '../../../../rules/test/world.ts'
import { ServiceError } from '../../../src/gateway/service-error.ts'
import { actorOf, makeWorld, type World } from './read-world.ts'

const STATUS: Readonly<Record<string, string>> = { INVALID: '400', FORBIDDEN: '403', NOT_FOUND: '404' }

async function answer(
  { reads, definitions }: World,
  { on, as, rule, filter = '', sort = '', query, headers = {} }: Case,
) {
  const usual = DEFINITIONS.find(({ name }) => name === on)!.listRule ?? ''
  definitions.change(on, { listRule: rule ?? usual })
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase().replaceAll('-', '_'), value])
  const record = RECORDS['users']!.find((user) => user['id'] === id(as))!
  const actor = actorOf(as === 'guest' || as === 'super' ? as : { collection: 'pbc_users', record }, {
    query: { ...query, ...(filter === '' ? {} : { filter }) },
    headers: Object.fromEntries(names),
  })
  try {
    const { items, totalItems } = await reads.list(actor, on, { filter, sort, perPage: 500 })
    if (totalItems !== items.length) return `${totalItems} in all, ${items.length} are listed`
    return namesOf(items.map((item) => item['id'] as string))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return STATUS[error.code]
  } finally {
    definitions.change(on, { listRule: usual })
  }
}

test('every list of the cases is that of the real PocketBase, with its total', async () => {
  await using world = await makeWorld(DEFINITIONS, RECORDS)
  const wrong: unknown[] = []
  for (const [index, each] of CASES.entries()) {
    const [line, real] = golden.answers[index]!
    if (each.write !== undefined || real === 'refused' || DEPARTURES.some(([departing]) => departing.test(line!)))
      continue
    const said = await answer(world, each)
    if (said !== real) wrong.push({ line, said, real })
  }
  expect(wrong).toEqual([])
})
