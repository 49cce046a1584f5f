/**
 * Goal: lists, views, expands and fields are those of PocketBase. Method: what the real one said to
 * each request is in golden/answers.json.
 */
import { expect, test } from 'vitest'
import { makeWorld } from '../read-world.ts'
import { answer, canonical } from './answer.ts'
import golden from './golden/answers.json' with { type: 'json' }
import { REQUESTS } from './requests.ts'
import { WORLD } from './world.ts'

/** PocketBase's order of rows is that of its plan here: it begins with the tasks. */
const HAS_ITS_OWN_ORDER = /^members\/records\?filter=tasks_via_owner.title/

/** Here only superusers may: the order would tell hidden addresses. */
const SORTS_BY_ADDRESS = 'users/records?sort=email'

function sortedIds(list: string): readonly string[] {
  return (JSON.parse(list) as { items: { id: string }[] }).items.map((item) => item.id).toSorted()
}

test('golden/answers.json answers these requests', () => {
  expect(golden.answers.map(([as, path]) => ({ path, as }))).toEqual(REQUESTS)
})

test('every request has the answer of the real PocketBase', async () => {
  await using world = await makeWorld(WORLD.definitions, WORLD.records)
  const wrong: unknown[] = []
  for (const [index, request] of REQUESTS.entries()) {
    const [, , status, body] = golden.answers[index]!
    const [ourStatus, ours] = await answer(world, WORLD.records, request)
    const theirs = canonical(body)
    if (request.path === SORTS_BY_ADDRESS && request.as !== 'super') expect(ourStatus).toBe(400)
    else if (HAS_ITS_OWN_ORDER.test(request.path)) expect(sortedIds(ours)).toEqual(sortedIds(theirs))
    else if (status !== ourStatus || ours !== theirs) wrong.push({ ...request, status, theirs, ourStatus, ours })
  }
  expect(wrong).toEqual([])
})
