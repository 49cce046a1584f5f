/** A random application: collections with fields and rules, and its records. Both servers get the same. */
import type { Random } from '../../../../db/testing/random.ts'

export const ACCOUNTS: readonly ['ann', 'bob', 'cid'] = ['ann', 'bob', 'cid']
export const ACCOUNT_PASSWORD = '1234567890'

export type Json = Readonly<Record<string, unknown>>

export interface App {
  readonly collections: readonly Json[]
  /** In an order in which relations find their records. */
  readonly records: readonly (readonly [collection: string, body: Json])[]
}

/** 15 characters, as PocketBase has them. */
export function idOf(name: string): string {
  return name.padEnd(15, '0')
}

export const NAMES: readonly ['users', 'teams', 'posts', 'comments'] = ['users', 'teams', 'posts', 'comments']
export const ID_COUNT = 8

/** `posts3` and so on. */
export function recordIds(collection: string): string[] {
  return collection === 'users'
    ? ACCOUNTS.map(idOf)
    : Array.from({ length: ID_COUNT }, (_, index) => idOf(`${collection}${index}`))
}

export const LETTERS: readonly string[] = ['a', 'b', 'c']
const TEXTS = ['', 'a', 'b', 'Ab', 'aB%', "it's", 'x_y', 'ä', 'aaa bbb', '<b>a</b>']
const DATES = ['', '2024-01-01 00:00:00.000Z', '2024-06-15 12:30:00.123Z', '2025-01-01']
const JSONS: readonly unknown[] = [null, 1, 'a', [], [1, 'a'], { a: 1 }, { a: { b: 'x' }, list: [{ k: 1 }, { k: 2 }] }]

const RULES: Readonly<Record<string, readonly string[]>> = {
  users: [
    'id = @request.auth.id',
    '@request.auth.id != ""',
    'team = @request.auth.team',
    'score > 1',
    'team.public = true',
  ],
  teams: [
    'public = true',
    'members ?= @request.auth.id',
    'tags:each ?= "a"',
    'title != "b"',
    'posts_via_team.public ?= true',
    '@request.auth.team = id || public = true',
  ],
  posts: [
    'public = true',
    'author = @request.auth.id',
    '@request.auth.id != ""',
    'author.team = @request.auth.team',
    'views > 1',
    'team.public = true || author = @request.auth.id',
    'kinds:each ?= "a"',
    'kinds:length > 1',
    'comments_via_post.author ?= @request.auth.id',
    'team.members ?= @request.auth.id',
    'title ~ "a"',
    '@collection.teams.members ?= @request.auth.id',
    '@request.body.title:isset = false',
    '@request.query.secret = "x" || public = true',
    'related.public = true',
  ],
  comments: [
    'author = @request.auth.id',
    'post.public = true',
    'post.author = @request.auth.id',
    'text != ""',
    'post.team.public = true',
  ],
}
const RULE_KINDS = ['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule']

export function randomApp(random: Random): App {
  return { collections: NAMES.map((name) => definition(random, name)), records: records(random) }
}

function definition(random: Random, name: (typeof NAMES)[number]): Json {
  const rules = Object.fromEntries(RULE_KINDS.map((kind) => [kind, rule(random, name)]))
  return {
    id: `pbc_${name}`,
    name,
    type: name === 'users' ? 'auth' : 'base',
    ...rules,
    fields: [
      ...fields(random, name),
      { name: 'created', type: 'autodate', onCreate: true },
      { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
    ],
    indexes: indexes(random, name),
  }
}

function rule(random: Random, name: string): string | null {
  if (random.chance(0.1)) return null
  if (random.chance(0.35)) return ''
  const own = RULES[name]!
  return random.chance(0.7)
    ? random.pick(own)
    : `(${random.pick(own)}) ${random.pick(['&&', '||'])} ${random.pick(own)}`
}

function indexes(random: Random, name: string): string[] {
  if (name === 'posts') {
    return [
      ...(random.chance(0.3) ? ['CREATE INDEX idx_posts_author ON posts (author, views)'] : []),
      ...(random.chance(0.2) ? ["CREATE UNIQUE INDEX idx_posts_link ON posts (link) WHERE link != ''"] : []),
    ]
  }
  return name === 'comments' && random.chance(0.2)
    ? ['CREATE UNIQUE INDEX idx_comments ON comments (post, author, text)']
    : []
}

function fields(random: Random, name: string): Json[] {
  const relation = (field: string, to: string, options: Json = {}): Json => ({
    name: field,
    type: 'relation',
    collectionId: `pbc_${to}`,
    cascadeDelete: random.chance(0.4),
    required: random.chance(0.15),
    ...options,
  })
  const hidden = random.chance(0.15)
  switch (name) {
    case 'users':
      return [
        { name: 'name', type: 'text' },
        { name: 'score', type: 'number', hidden },
        relation('team', 'teams', { required: false }),
      ]
    case 'teams':
      return [
        { name: 'title', type: 'text', ...(random.chance(0.3) ? { min: 1, max: 5 } : {}) },
        { name: 'tags', type: 'select', values: LETTERS, maxSelect: 3 },
        { name: 'public', type: 'bool' },
        relation('members', 'users', { maxSelect: 5, required: false }),
      ]
    case 'posts':
      return [
        {
          name: 'title',
          type: 'text',
          required: random.chance(0.2),
          ...(random.chance(0.2) ? { pattern: '^[a-zA-Z]*$' } : {}),
        },
        { name: 'body', type: 'editor' },
        { name: 'views', type: 'number', ...(random.chance(0.3) ? { min: 0, max: 9, onlyInt: true } : {}) },
        { name: 'public', type: 'bool' },
        { name: 'kind', type: 'select', values: LETTERS, hidden },
        { name: 'kinds', type: 'select', values: LETTERS, maxSelect: 2 },
        { name: 'published', type: 'date' },
        { name: 'meta', type: 'json' },
        { name: 'place', type: 'geoPoint' },
        { name: 'link', type: 'url' },
        { name: 'mail', type: 'email' },
        relation('author', 'users'),
        relation('team', 'teams'),
        relation('related', 'posts', { maxSelect: 4, required: false }),
      ]
    default:
      return [relation('post', 'posts'), relation('author', 'users'), { name: 'text', type: 'text' }]
  }
}

function records(random: Random): App['records'] {
  const all: (readonly [string, Json])[] = []
  for (const name of ['teams', 'users', 'posts', 'comments'])
    for (const id of recordIds(name)) {
      const account = name === 'users' ? accountOf(random, id) : {}
      all.push([name, { id, ...account, ...validBody(random, name) }])
    }
  return all
}

function accountOf(random: Random, id: string): Json {
  return {
    email: `${id.replace(/0+$/, '')}@example.com`,
    emailVisibility: random.chance(0.5),
    verified: random.chance(0.5),
    password: ACCOUNT_PASSWORD,
    passwordConfirm: ACCOUNT_PASSWORD,
  }
}

export function validBody(random: Random, name: string): Json {
  const several = (from: readonly string[], most: number): string[] =>
    Array.from({ length: random.below(most + 1) }, () => random.pick(from))
  switch (name) {
    case 'users':
      return { name: random.pick(TEXTS), score: random.below(4), team: random.pick(recordIds('teams')) }
    case 'teams':
      return { title: random.pick(TEXTS), tags: several(LETTERS, 3), public: random.chance(0.5), members: [] }
    case 'posts':
      return {
        title: random.pick(TEXTS),
        body: random.pick(TEXTS),
        views: random.below(5),
        public: random.chance(0.5),
        kind: random.pick(['', ...LETTERS]),
        kinds: several(LETTERS, 2),
        published: random.pick(DATES),
        meta: random.pick(JSONS),
        place: { lon: random.below(3), lat: random.below(3) },
        link: random.chance(0.5) ? '' : `http://${random.pick(LETTERS)}.com`,
        mail: random.chance(0.5) ? '' : `${random.pick(LETTERS)}@b.co`,
        author: random.pick(recordIds('users')),
        team: random.pick(recordIds('teams')),
      }
    default:
      return {
        post: random.pick(recordIds('posts')),
        author: random.pick(recordIds('users')),
        text: random.pick(TEXTS),
      }
  }
}

/** Some of its values are wrong, and some keys are modifiers. */
export function randomBody(random: Random, name: string): Json {
  const body = validBody(random, name)
  const kept = Object.entries(body).filter(() => random.chance(0.6))
  const changed = kept.map(
    ([key, value]) => [changedKey(random, key), random.chance(0.12) ? random.pick(ODD) : value] as const,
  )
  return Object.fromEntries(changed)
}

function changedKey(random: Random, key: string): string {
  if (random.chance(0.85)) return key
  return random.pick([`${key}+`, `${key}-`, `+${key}`, 'nope', 'created', 'related', 'members', 'related+'])
}

const ODD: readonly unknown[] = [
  null,
  '',
  'nope',
  -1,
  1.5,
  'x'.repeat(20),
  [],
  ['a', 'nope'],
  {},
  true,
  idOf('posts1'),
  [idOf('posts1'), idOf('posts2')],
  [idOf('ann'), 'missing'],
  '2024-02-30',
]
