/**
 * Goal: no door tells what a caller may not see. Two collections differ in hidden records and in hidden fields of others alone: all
 * that a restricted caller can ask of both is answered alike, to the byte.
 * Method: random rules over the fields, a relation and the account. `a` has all records, `b` has those that the caller sees in `a`. Where
 * the caller does not see `pay` of a record, `b` has another one.
 * Ids are new in each seed: a record would have the place of a deleted one of its id in the order of creation.
 * Not asked: creates with an id, as one that is taken is refused. Realtime: oracle-realtime.model.wired.test.ts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../../db/testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { send, STRANGER, type Answer } from '../test-server.ts'
import { neutral, OracleWorld, randomFields } from './oracle-world.ts'
import { ITSELF } from './rest-server.ts'

const IDS_COUNT = 8
const MISSING = 'missingmissingm'

let world: OracleWorld
/** Pulls that were answered with rows: rules that sync refuses prove nothing of it. */
let pulled = 0
/** Records that were pulled without a field. */
let cut = 0

beforeAll(async () => {
  world = await OracleWorld.start(['posts_a', 'posts_b'])
})
afterAll(async () => {
  await world.server.close()
  expect(pulled).toBeGreaterThan(0)
  expect(cut).toBeGreaterThan(0)
})

type Question = readonly [request: string, body?: unknown]

/** What a caller can ask that changes nothing it sees. `blind`: records whose `pay` it does not see. */
function questions(all: readonly string[], hidden: readonly string[], blind: readonly string[]): readonly Question[] {
  const records = '/api/collections/posts_N/records'
  const ids = [...all, MISSING]
  return [
    ...['', 'sort=-level,id', 'perPage=2', 'perPage=2&page=2', 'skipTotal=1', 'expand=team&fields=*,expand,_rev'].map(
      (query) => [`GET ${records}?${query}`] as const,
    ),
    ...syncQuestions(all, hidden, blind),
    ...(blind.length === 0 ? [] : [[`GET ${records}?sort=pay`] as const, [`GET ${records}?sort=-pay,id`] as const]),
    ...blind.flatMap(
      (id) =>
        [
          [`PATCH ${records}/${id}`, { pay: 1 }],
          [`PATCH ${records}/${id}`, { 'pay+': 1, title: 'z' }],
        ] as const,
    ),
    ...(blind.length === 0 ? [] : ['pay>2', 'pay!=pay+0', '@collection.posts_N.pay=1']).map(
      (filter) => [`GET ${records}?sort=id&filter=${encodeURIComponent(filter)}`] as const,
    ),
    ...["title='x'", 'level>0', "team.name='x'", 'nope=1', `id='${all[0]}'`, "@collection.posts_N.title='x'"].map(
      (filter) => [`GET ${records}?sort=id&filter=${encodeURIComponent(filter)}`] as const,
    ),
    ...ids.map((id) => [`GET ${records}/${id}`] as const),
    ...[...hidden, MISSING].flatMap(
      (id) =>
        [
          [`PATCH ${records}/${id}`, { title: 'z' }],
          [`PATCH ${records}/${id}`, { level: 'no' }],
          [`DELETE ${records}/${id}`],
        ] as const,
    ),
    [`POST ${records}`, { title: 'z' }],
    [`GET /api/collections/posts_N/explain`],
    ...ids.flatMap(
      (id) => [[`GET /posts_N/${id}`], [`HEAD /posts_N/${id}`], [`DELETE /posts_N/${id}?rev=1-a`]] as const,
    ),
    ...['', '/_all_docs', '/_changes', '/_local/x', '/_security', '/_design_docs'].map(
      (path) => [`GET /posts_N${path}`] as const,
    ),
    ['POST /posts_N/_bulk_get', { docs: ids.map((id) => ({ id })) }],
    ['POST /posts_N/_revs_diff', Object.fromEntries(ids.map((id) => [id, ['1-a']]))],
    ['POST /posts_N/_bulk_docs', { docs: ids.map((id) => ({ _id: id, title: 'z' })) }],
    ['POST /posts_N/_find', { selector: { title: 'x' } }],
    ['POST /_dbs_info', { keys: ['posts_N'] }],
    ['POST /_pannier/wait', { databases: [{ name: 'posts_N', since: '3' }] }],
  ]
}

/** By sync: pulls, with guesses of what is hidden, and writes of what the caller may not see. */
function syncQuestions(
  [first]: readonly string[],
  hidden: readonly string[],
  blind: readonly string[],
): readonly Question[] {
  const collections = { posts_N: null }
  const guesses = Object.fromEntries(hidden.map((id) => [id, `1-${'0'.repeat(32)}`]))
  const device = `posts_N-${first}`
  const at = { collection: 'posts_N' }
  const writes = [...hidden, MISSING].flatMap((id) => [
    { ...at, id, action: 'update', base: null, values: { title: 'z' } },
    { ...at, id, action: 'update', base: guesses[id] ?? '1-0', values: { level: 3 }, was: { level: 1 } },
    { ...at, id, action: 'delete', base: null },
    { ...at, id, action: 'create', values: { title: 'z' } },
  ])
  const guessed = blind.flatMap((id) => {
    const guess = (pay: number) => ({ ...at, id, action: 'update', base: '1-0', values: { pay }, was: { pay } })
    // An earlier write of the device may be said to have made the value.
    return [...[0, 1, 2, 3].map(guess), { ...guess(2), base: null }, { ...guess(2), own: { pay: { n: 1, at: 0 } } }]
  })
  const transactions = [...writes, ...guessed].map((write, index) => ({ n: index + 1, writes: [write] }))
  return [
    ['POST /api/sync/pull', { collections }],
    ...['*', guesses].map((has) => ['POST /api/sync/pull', { collections, has: { posts_N: has } }] as const),
    ...["title = 'x'", 'level > 0', 'pay > 1', 'nope = 1'].map(
      (filter) => ['POST /api/sync/pull', { collections, filters: { posts_N: filter } }] as const,
    ),
    ['POST /api/sync/push', { device, transactions }],
    ['POST /api/sync/pull', { collections, device, acknowledged: [...transactions.map(({ n }) => n), 999] }],
  ]
}

/** As it would be of either collection. What is random is made equal, and its length stays. */
function plain({ status, headers, text }: Answer): unknown {
  const kept = ['etag', 'content-length', 'content-type', 'x-couch-update-seq', 'location', 'www-authenticate']
  const shown = neutral(text).replace(
    /"(_rev|rev|token|mark|end)":"([^"]*)"/g,
    (_, name, value) => `"${name}":${String(value).length}`,
  )
  return [status, shown, kept.map((name) => headers.get(name))]
}

test.for(seedsOf('model'))('seed %i: hidden records change no answer', async (seed) => {
  const random = seededRandom(seed)
  const { server, token } = world
  const { records } = server.server.backend
  const rules = await world.begin(random, true)
  const ids = Array.from({ length: IDS_COUNT }, (_, n) => `r${n}x${seed.toString(36)}`.padEnd(15, 'r'))
  const made = ids.map((id) => ({ id, ...randomFields(random) }))
  for (const record of made) await records.create(ITSELF, 'posts_a', record)
  const caller = random.pick(['', token])
  const seen = (await server.call('GET /collections/posts_a/records', undefined, caller)).json['items'] as {
    id: string
    pay?: number
  }[]
  const visible = new Set(seen.map(({ id }) => id))
  const blind = seen.flatMap(({ id, pay }) => (pay === undefined ? [id] : []))
  for (const record of made) {
    const pay = blind.includes(record.id) ? (record.pay + 1) % 4 : record.pay
    if (visible.has(record.id)) await records.create(ITSELF, 'posts_b', { ...record, pay })
  }
  const hidden = ids.filter((id) => !visible.has(id))
  if (hidden.length === 0 && blind.length === 0) return
  const headers = caller === '' ? STRANGER : { authorization: `Bearer ${caller}` }
  for (const [request, body] of questions(ids, hidden, blind)) {
    const ask = async (which: string): Promise<unknown> => {
      const named = (text: string): string => text.replaceAll('posts_N', `posts_${which}`)
      const sent = body === undefined ? undefined : (JSON.parse(named(JSON.stringify(body))) as unknown)
      return plain(await send(server.url, named(request), sent, headers))
    }
    const answer = await ask('a')
    expect(answer, `${rules}: ${request}`).toEqual(await ask('b'))
    const isPulled = JSON.stringify(answer).includes('mark')
    pulled += Number(isPulled)
    cut += Number(isPulled && blind.length > 0)
  }
})
