/**
 * Goal: no door tells what a caller may not see. Two collections differ in hidden records and in hidden fields of others alone: all
 * that a restricted caller can ask of both is answered alike, to the byte.
 * Method: random rules over the fields, a relation and the account. `a` has all records, `b` has those that the caller sees in `a`. Where
 * the caller does not see `pay` of a record, `b` has another one.
 * Ids are new in each seed: a record would have the place of a deleted one of its id in the order of creation.
 * Not asked: creates with an id, as one that is taken is refused. Realtime and signals of sync: their own models compare each message.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { seedsOf, timeoutOf } from '../../../../tools/test/seeds.ts'
import { send, STRANGER, type Answer } from '../test-server.ts'
import { ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

const CONDITIONS = [
  "title = 'x'",
  "title != 'x'",
  'level > 1',
  "tags:each ?= 't1'",
  'owner = @request.auth.id',
  'owner != @request.auth.id',
  "@request.auth.name = 'Ann'",
  "@request.auth.id != ''",
  'team.open = true',
  'team.members.id ?= @request.auth.id',
  "team.name ~ 'e'",
  '@collection.teams.name ?= title',
]
const TEAMS = ['teamaaaaaaaaaaa', 'teambbbbbbbbbbb']
const ANN = 'annannannannann'
const IDS_COUNT = 8
const MISSING = 'missingmissingm'

let server: RestServer
let token: string
/** Pulls that were answered with rows: rules that sync refuses prove nothing of it. */
let pulled = 0
/** Records that were pulled without a field. */
let cut = 0

beforeAll(async () => {
  server = await startRest()
  const { records } = server.server.backend
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  await records.create(ITSELF, 'users', { id: ANN, name: 'Ann', email: 'ann@example.com', ...secret })
  token = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  const users = String((await server.call('GET /collections/users')).json['id'])
  const make = async (name: string, fields: readonly object[], id?: string): Promise<string> => {
    const { status, json, text } = await server.call('POST /collections', { id, name, type: 'base', fields })
    expect([status, text]).toEqual([200, expect.anything()])
    return String(json['id'])
  }
  const teams = await make('teams', [
    { name: 'name', type: 'text' },
    { name: 'open', type: 'bool' },
    { name: 'members', type: 'relation', collectionId: users, maxSelect: 9 },
  ])
  // Ids of one length, as answers have them.
  for (const [name, id] of [
    ['posts_a', 'pbc_1000000001'],
    ['posts_b', 'pbc_1000000002'],
  ] as const)
    await make(
      name,
      [
        { name: 'title', type: 'text' },
        { name: 'level', type: 'number' },
        { name: 'pay', type: 'number' },
        { name: 'tags', type: 'select', maxSelect: 2, values: ['t1', 't2'] },
        { name: 'owner', type: 'relation', collectionId: users, maxSelect: 1 },
        { name: 'team', type: 'relation', collectionId: teams, maxSelect: 1 },
      ],
      id,
    )
  await records.create(ITSELF, 'teams', { id: TEAMS[0], name: 'one', open: true })
  await records.create(ITSELF, 'teams', { id: TEAMS[1], name: 'x', members: [ANN] })
})
afterAll(async () => {
  await server.close()
  expect(pulled).toBeGreaterThan(0)
  expect(cut).toBeGreaterThan(0)
})

function randomRule({ below, pick }: Random): string {
  const some = (): string => Array.from({ length: 1 + below(2) }, () => pick(CONDITIONS)).join(' && ')
  return Array.from({ length: 1 + below(2) }, () => `(${some()})`).join(' || ')
}

/** Sets the rules of both collections, and that of the field `pay`. */
async function setRules(rule: string, viewRule: string | null): Promise<void> {
  for (const name of ['posts_a', 'posts_b']) {
    const { fields } = (await server.call(`GET /collections/${name}`)).json as unknown as {
      readonly fields: readonly { readonly name: string }[]
    }
    const ruled = fields.map((field) => (field.name === 'pay' ? { ...field, viewRule } : field))
    const rules = { listRule: rule, viewRule: rule, updateRule: rule, deleteRule: rule, createRule: null }
    expect((await server.call(`PATCH /collections/${name}`, { ...rules, fields: ruled })).status).toBe(200)
  }
}

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
  const guessed = blind.flatMap((id) =>
    [0, 1, 2, 3].map((pay) => ({ ...at, id, action: 'update', base: '1-0', values: { pay }, was: { pay } })),
  )
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
  const neutral = text
    .replace(/posts_[ab]/g, 'posts_N')
    .replace(/"collectionId":"\w+"/g, '"collectionId":"N"')
    .replace(/"(_rev|rev|token|mark|end)":"([^"]*)"/g, (_, name, value) => `"${name}":${String(value).length}`)
  return [status, neutral, kept.map((name) => headers.get(name))]
}

test.for(seedsOf('model'))('seed %i: hidden records change no answer', { timeout: timeoutOf(60_000) }, async (seed) => {
  const random = seededRandom(seed)
  const { records, definitions } = server.server.backend
  for (const name of ['posts_a', 'posts_b']) await definitions.truncate(ITSELF.principal, name)
  const rule = randomRule(random)
  const ofPay = random.chance(0.1) ? null : randomRule(random)
  await setRules(rule, ofPay)
  const ids = Array.from({ length: IDS_COUNT }, (_, n) => `record${n}x${seed}`.padEnd(15, 'r'))
  const made = ids.map((id) => ({
    id,
    title: random.pick(['x', 'one', 'e', '']),
    level: random.below(4),
    pay: random.below(4),
    tags: random.pick([[], ['t1'], ['t1', 't2']]),
    owner: random.pick(['', ANN]),
    team: random.pick(['', ...TEAMS]),
  }))
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
    expect(answer, `${rule}, ${ofPay}: ${request}`).toEqual(await ask('b'))
    const isPulled = JSON.stringify(answer).includes('mark')
    pulled += Number(isPulled)
    cut += Number(isPulled && blind.length > 0)
  }
})
