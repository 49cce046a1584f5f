import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../tools/test/seeds.ts'
import { cut, holdingsOf, Viewer, type Cut } from '../src/cut.ts'
import { bind, check, evaluate, parse, RuleError, type RuleRecord, type RuleRequest } from '../src/index.ts'
import { recordsOf, SCHEMA, type World } from './answer.ts'
import { CASES } from './cases.ts'
import { world } from './random-world.ts'
import { RECORDS } from './world.ts'

const NOW = new Date('2026-11-23T10:00:00.000Z')

function requestOf(account: RuleRecord | null): RuleRequest {
  return {
    auth: account === null ? null : { collection: 'users', record: account },
    body: {},
    query: {},
    headers: {},
    method: 'GET',
    context: 'default',
  }
}

/** Everybody sees of a cut what the rule admits. */
function isRight(rule: string, collection: string, data: World): Cut {
  const records = recordsOf(data)
  let found: Cut | undefined
  for (const account of [...data['users']!, null]) {
    const made = cut({ schema: SCHEMA, collection, rule: parse(rule), accounts: account === null ? null : 'users' })
    found = made
    if (made.problems.length > 0) continue
    const holdings = JSON.parse(JSON.stringify(holdingsOf(made, account, records, NOW))) as ReturnType<
      typeof holdingsOf
    >
    const viewer = new Viewer(made, holdings, NOW)
    const bound = bind({ schema: SCHEMA, collection, rule: parse(rule), request: requestOf(account), now: NOW })
    for (const record of data[collection]!) {
      const admitted = evaluate(bound, record, records) === true
      const seen = viewer.shows(record)
      const what = [rule, account?.['id'], record['id'], JSON.stringify(holdings)]
      expect([...what, seen]).toEqual([...what, admitted])
    }
  }
  return found!
}

/** Without relations to what does not exist: the server keeps none. */
function whole(data: World): World {
  const ids = new Set(Object.values(data).flatMap((records) => records.map((record) => record['id'])))
  const isGone = (field: { readonly type: string } | undefined, value: unknown): boolean =>
    field?.type === 'relation' && value !== '' && !ids.has(value)
  const mended = (collection: string, record: RuleRecord): RuleRecord => {
    const fields = SCHEMA.find(collection)!.fields
    const entries = Object.entries(record).map(([name, value]) => {
      const field = fields.get(name)
      if (Array.isArray(value)) return [name, value.filter((each) => !isGone(field, each))]
      return [name, isGone(field, value) ? '' : value]
    })
    return Object.fromEntries(entries) as RuleRecord
  }
  return Object.fromEntries(
    Object.entries(data).map(([name, records]) => [name, records.map((record) => mended(name, record))]),
  )
}

const number = fc.constantFrom(0, 1, 2)
const list = (...of: string[]): fc.Arbitrary<string[]> => fc.uniqueArray(fc.constantFrom(...of), { maxLength: 2 })
const DAYS = ['', '2026-11-23 09:00:00.000Z', '2026-11-23 11:00:00.000Z', '2026-11-24 00:00:00.000Z']

/** The random world, with values of the other types. */
const wideWorld: fc.Arbitrary<World> = fc
  .tuple(
    world,
    fc.array(
      fc.record({ age: number, langs: list('a', 'b', 'en'), verified: fc.boolean(), email: fc.constantFrom('', 'a') }),
      {
        minLength: 3,
        maxLength: 3,
      },
    ),
    fc.array(
      fc.record({
        views: number,
        public: fc.boolean(),
        tags: list('a', 'b'),
        day: fc.constantFrom(...DAYS),
        kind: fc.constantFrom('', 'a', 'A'),
        meta: fc.constantFrom(null, { x: 'a' }, { x: 1 }),
        parent: fc.constantFrom('', 'posts0', 'posts1'),
      }),
      { minLength: 3, maxLength: 3 },
    ),
  )
  .map(([data, accounts, posts]) => ({
    ...data,
    users: data['users']!.map((record, index) => ({ ...record, ...accounts[index] })),
    posts: data['posts']!.map((record, index) => ({ ...record, ...posts[index] })),
  }))

const PATHS = [
  'views',
  'reviewers.id',
  'reviewers.age',
  'likes_via_post.id',
  'public',
  'tags:each',
  'tags:length',
  'day',
  'kind',
  'kind:lower',
  'meta.x',
  'parent.title',
  'parent.author',
  'parent.parent.kind',
  'author.age',
  '@now',
  '@hour',
  '@tomorrow',
  '@request.auth.age',
  '@request.auth.langs:each',
  '@request.auth.verified',
  '@request.auth.email',
  '@request.auth.org.users_via_org.id',
  'title',
  'author',
  'author.name',
  'author.org.name',
  'author.org',
  'author.perms.name',
  'author.perms:each',
  'reviewers:each',
  'reviewers.name',
  'reviewers.org',
  'reviewers.perms.name',
  'likes_via_post.by',
  'likes_via_post.by.org',
  'id',
  '@collection.likes.by',
  '@collection.likes.post',
  '@collection.likes:other.post',
  '@request.auth.id',
  '@request.auth.name',
  '@request.auth.org',
  '@request.auth.org.name',
  '@request.auth.perms:each',
  '@request.auth.perms.name',
]

const rule: fc.Arbitrary<string> = fc.shuffledSubarray(PATHS, { minLength: 1, maxLength: 4 }).chain((paths) => {
  const path = fc.constantFrom(...paths)
  const word = fc.constantFrom(
    "'a'",
    "'b'",
    "''",
    '1',
    'true',
    '@now',
    '@request.auth.age',
    '@request.auth.id',
    '@request.auth.org',
    '@request.auth.name',
  )
  const comparison = fc
    .tuple(
      path,
      fc.constantFrom('?=', '?=', '?=', '?!=', '=', '!=', '<=', '>', '?>=', '~', '!~'),
      fc.oneof({ weight: 3, arbitrary: word }, path),
    )
    .map((parts) => parts.join(' '))
  const { made } = fc.letrec<{ readonly made: string }>((tie) => ({
    made: fc.oneof(
      { depthSize: 'small' },
      comparison,
      fc
        .tuple(tie('made'), fc.constantFrom('&&', '&&', '||'), tie('made'))
        .map(([left, join, right]) => `(${left}) ${join} (${right})`),
    ),
  }))
  return made
})

test('a cut rule shows each account what the rule admits', () => {
  let [halved, all] = [0, 0]
  fc.assert(
    fc.property(wideWorld, rule, (data, written) => {
      all++
      if (isRight(written, 'posts', whole(data)).problems.length === 0) halved++
    }),
    { numRuns: times(500) },
  )
  expect(halved / all).toBeGreaterThan(0.8)
})

test("a cut rule of PocketBase's cases shows what the rule admits", () => {
  const asksRequest = new Set<string>()
  for (const { rule: written = '', on, write } of CASES) {
    if (written === '' || write !== undefined || check(written, SCHEMA, on).errors.length > 0) continue
    try {
      const { problems } = isRight(written, on, whole(RECORDS))
      if (problems.length > 0) asksRequest.add(problems[0]!.message)
    } catch (error) {
      // A name of the account leads nowhere. A check of the rule only warns.
      if (!(error instanceof RuleError)) throw error
    }
  }
  expect([...asksRequest]).toEqual(['It asks about one request.'])
})
