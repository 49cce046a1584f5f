/** Goal: a UNIQUE index of any form takes and refuses over HTTP what it takes and refuses in the real PocketBase, with the same errors. */
import { expect, test } from 'vitest'
import { UNIQUE_BODIES, UNIQUE_FIELDS, uniqueRecord } from '../../../backend/test/definitions/unique-conditions.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { needPocketBase, PocketBaseServer } from '../../../../tools/test/pocketbase.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { startRest } from './rest-server.ts'

const RECORDS = 12
const TIMEOUT_MS = 3_600_000

test('unique indexes are those of the real PocketBase', { timeout: TIMEOUT_MS }, async (context) => {
  await using peer = await PocketBaseServer.start(needPocketBase(context))
  const server = await startRest()
  const random = seededRandom(seedsOf('diff')[0]!)
  const counts = { equal: 0, refusedThere: 0 }
  const wrong: unknown[] = []
  for (const [at, body] of UNIQUE_BODIES.entries()) {
    const name = `u${at}`
    const collection = {
      name,
      type: 'base',
      fields: UNIQUE_FIELDS,
      indexes: [`CREATE UNIQUE INDEX i_${name} ON ${name} ${body}`],
    }
    const made = await server.call('POST /collections', collection)
    expect(made.status, `${body}: ${made.text}`).toBe(200)
    // Its reader of words refuses a parenthesis in a condition.
    if ((await peer.ask('POST', '/api/collections', collection)).status !== 200) {
      counts.refusedThere++
      continue
    }
    let isEqual = true
    for (let count = 0; count < RECORDS; count++) {
      const record = uniqueRecord(random)
      const theirs = await peer.ask('POST', `/api/collections/${name}/records`, record)
      const ours = await server.call(`POST /collections/${name}/records`, record)
      if (ours.status === theirs.status && (ours.status === 200 || sorted(ours.json) === sorted(theirs.body))) continue
      isEqual = false
      wrong.push({ body, record, theirs, ours: ours.text })
    }
    if (isEqual) counts.equal++
  }
  await server.close()
  console.log(JSON.stringify(counts))
  expect(wrong.slice(0, 5)).toEqual([])
  expect(counts).toEqual({ equal: UNIQUE_BODIES.length - counts.refusedThere, refusedThere: 36 })
})

function sorted(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
}
