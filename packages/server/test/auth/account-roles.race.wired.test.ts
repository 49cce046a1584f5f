/** Goal: writes of the document that gives an account roles, and the deletion of its record, leave one of the states that turns would. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ITSELF, startRest, type RestServer } from '../rest/rest-server.ts'
import { send, type Answer } from '../test-server.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const ROUNDS = 10
let server: RestServer

beforeAll(async () => {
  server = await startRest()
})
afterAll(() => server.close())

async function account(id: string): Promise<void> {
  const row = { id, email: `${id}@example.com`, password: 'no hash', tokenKey: id.padEnd(50, 'k') }
  expect((await server.call('POST /imports/users/rows', { rows: [row] })).json).toMatchObject({ created: 1 })
}

function pathOf(id: string): string {
  return `/_users/org.couchdb.user:users:${id}`
}

function give(id: string, role: string, rev?: unknown): Promise<Answer> {
  const document = { name: `users:${id}`, type: 'user', roles: [role], ...(rev !== undefined && { _rev: rev }) }
  return send(server.url, `PUT ${pathOf(id)}`, document)
}

test.each(seedsOf('race'))('writes of roles race with the deletion of the record (SEED=%d)', async (seed) => {
  const random = seededRandom(seed)
  for (let round = 0; round < ROUNDS; round++) {
    const id = `race${seed.toString(36)}x${round}`.padEnd(15, '0')
    await account(id)
    const first = random.chance(0.5) ? await give(id, 'old') : undefined
    const work: (() => Promise<Answer>)[] = [() => server.call(`DELETE /collections/users/records/${id}`)]
    for (let n = 0; n < 3; n++)
      work.splice(random.below(work.length + 1), 0, () => give(id, `new${n}`, first?.json['rev']))
    const answers = await Promise.all(work.map((run) => run()))
    const written = answers.filter(({ status }) => status === 201)
    expect(written.length).toBeLessThanOrEqual(1)
    for (const { status, text } of answers)
      expect([[201, 204, 403, 409].includes(status), text]).toEqual([true, expect.any(String)])
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    // The record is gone: so is the document, in whatever order they came.
    expect((await send(server.url, `GET ${pathOf(id)}`)).status).toBe(404)
    expect((await send(server.url, `GET ${pathOf(id)}?open_revs=all`)).text).not.toContain('"roles"')
    expect((await give(id, 'late')).status).toBe(403)
  }
})

test('of many first writes one is taken, and the others are conflicts', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const id = `first${round}`.padEnd(15, '0')
    await account(id)
    const roles = Array.from({ length: 4 }, (_, n) => `role${n}`)
    const answers = await Promise.all(roles.map((role) => give(id, role)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409, 409, 409])
    const taken = roles[answers.findIndex(({ status }) => status === 201)]
    expect((await send(server.url, `GET ${pathOf(id)}?conflicts=true`)).json).toMatchObject({ roles: [taken] })
    await server.server.backend.records.delete(ITSELF, 'users', id)
  }
})
