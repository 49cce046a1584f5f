/** A random application: collections with fields and rules, and its records. Both servers get the same. */
import type { Random } from '../../../../db/testing/random.ts'
import { randomRules } from './random-rules.ts'

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

/** Collections with records. */
export const NAMES: readonly ['users', 'teams', 'posts', 'comments'] = ['users', 'teams', 'posts', 'comments']
/** The views. */
export const VIEWS: readonly ['cards', 'counts'] = ['cards', 'counts']
export const ID_COUNT = 8

/** `posts3` and so on; ids that rows of views may have. */
export function recordIds(collection: string): string[] {
  if (collection === 'cards') return [...recordIds('posts'), ...recordIds('comments')]
  if (collection === 'counts') return [...recordIds('teams'), ...recordIds('users'), '1', '2']
  return collection === 'users'
    ? ACCOUNTS.map(idOf)
    : Array.from({ length: ID_COUNT }, (_, index) => idOf(`${collection}${index}`))
}

export const LETTERS: readonly string[] = ['a', 'b', 'c']
const TEXTS = ['', 'a', 'b', 'Ab', 'aB%', "it's", 'x_y', 'ä', 'aaa bbb', '<b>a</b>']
const DATES = ['', '2024-01-01 00:00:00.000Z', '2024-06-15 12:30:00.123Z', '2025-01-01']
const JSONS: readonly unknown[] = [null, 1, 'a', [], [1, 'a'], { a: 1 }, { a: { b: 'x' }, list: [{ k: 1 }, { k: 2 }] }]

export function randomApp(random: Random): App {
  const views = VIEWS.map((name) => view(random, name))
  return { collections: [...NAMES.map((name) => definition(random, name)), ...views], records: records(random) }
}

function definition(random: Random, name: (typeof NAMES)[number]): Json {
  return {
    id: `pbc_${name}`,
    name,
    type: name === 'users' ? 'auth' : 'base',
    ...randomRules(random, name),
    fields: randomFields(random, name),
    indexes: indexes(random, name),
  }
}

const VIEW_QUERIES: Readonly<Record<string, readonly string[]>> = {
  cards: [
    'SELECT id, title, views, author, created FROM posts',
    "SELECT p.id, p.title AS name, u.name AS writer, p.team FROM posts p LEFT JOIN users u ON u.id = p.author WHERE p.title != ''",
    'SELECT p.id, p.kinds, p.meta, p.place, p.published, p.public, p.link FROM posts AS p ORDER BY p.views DESC, p.id',
    "SELECT c.id, c.post, (c.text || '!') AS loud, length(c.text) AS letters FROM comments c JOIN posts p ON p.id = c.post",
  ],
  counts: [
    'SELECT t.id, t.title, count(p.id) AS posts FROM teams t LEFT JOIN posts p ON p.team = t.id GROUP BY t.id',
    'SELECT author AS id, count(*) AS posts, sum(views) AS views, max(views) AS most FROM posts GROUP BY author',
    'SELECT (ROW_NUMBER() OVER()) AS id, public, avg(views) AS mean FROM posts GROUP BY public',
    'SELECT p.id, CAST(p.views AS TEXT) AS views, (CASE WHEN p.public THEN 1 ELSE 0 END) AS open FROM posts p LIMIT 5',
  ],
}

function view(random: Random, name: (typeof VIEWS)[number]): Json {
  const { listRule, viewRule } = randomRules(random, name)
  return { id: `pbc_${name}`, name, type: 'view', listRule, viewRule, viewQuery: random.pick(VIEW_QUERIES[name]!) }
}

/** With those of a new or a changed definition. */
export function randomFields(random: Random, name: string): Json[] {
  return [
    ...fields(random, name),
    { name: 'created', type: 'autodate', onCreate: true },
    { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
  ]
}

function indexes(random: Random, name: string): string[] {
  if (name === 'posts') {
    return [
      ...(random.chance(0.3) ? ['CREATE INDEX idx_posts_views ON posts (views, title)'] : []),
      ...(random.chance(0.2) ? ["CREATE UNIQUE INDEX idx_posts_link ON posts (link) WHERE link != ''"] : []),
    ]
  }
  return name === 'comments' && random.chance(0.2)
    ? ['CREATE UNIQUE INDEX idx_comments ON comments (text, post, author)']
    : []
}

function fields(random: Random, name: string): Json[] {
  // Where one relation takes a record along and another one refuses that, PocketBase does either, by the names of collections.
  const cascadeDelete = random.chance(0.5)
  const relation = (field: string, to: string, options: Json = {}): Json => ({
    name: field,
    type: 'relation',
    collectionId: `pbc_${to}`,
    cascadeDelete,
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
        { name: 'avatar', type: 'file', mimeTypes: random.chance(0.3) ? ['text/plain'] : null },
      ]
    case 'teams':
      return [
        { name: 'title', type: 'text', ...(random.chance(0.3) ? { min: 1, max: 5 } : {}) },
        { name: 'tags', type: 'select', values: LETTERS, maxSelect: 3 },
        { name: 'public', type: 'bool' },
        relation('members', 'users', {
          maxSelect: 5,
          required: false,
          ...(random.chance(0.2) ? { minSelect: 2 } : {}),
        }),
        { name: 'pin', type: 'password', min: random.chance(0.5) ? 3 : 0 },
        { name: 'rank', type: 'number', required: random.chance(0.1) },
      ]
    case 'posts':
      return [
        {
          name: 'title',
          type: 'text',
          required: random.chance(0.2),
          ...(random.chance(0.2) ? { pattern: '^[a-zA-Z]*$' } : {}),
        },
        { name: 'body', type: 'editor', maxSize: random.chance(0.1) ? 5 : 0 },
        { name: 'code', type: 'text', autogeneratePattern: 'fix', hidden: random.chance(0.1) },
        { name: 'views', type: 'number', ...(random.chance(0.3) ? { min: 0, max: 9, onlyInt: true } : {}) },
        { name: 'public', type: 'bool', required: random.chance(0.05) },
        { name: 'kind', type: 'select', values: LETTERS, hidden },
        { name: 'kinds', type: 'select', values: LETTERS, maxSelect: 2 },
        {
          name: 'published',
          type: 'date',
          ...(random.chance(0.2) ? { min: '2024-02-01 00:00:00.000Z', max: '2024-12-31 00:00:00.000Z' } : {}),
        },
        { name: 'meta', type: 'json', maxSize: random.chance(0.1) ? 6 : 0, required: random.chance(0.05) },
        { name: 'place', type: 'geoPoint', required: random.chance(0.05) },
        { name: 'link', type: 'url', onlyDomains: random.chance(0.2) ? ['a.com', 'b.com'] : null },
        { name: 'mail', type: 'email', exceptDomains: random.chance(0.2) ? ['b.co'] : null },
        { name: 'documents', type: 'file', maxSelect: 3, maxSize: random.chance(0.2) ? 4 : 0 },
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

/** What fields take, unless their options are narrow. */
export function validBody(random: Random, name: string): Json {
  const several = (from: readonly string[], most: number): string[] =>
    Array.from({ length: random.below(most + 1) }, () => random.pick(from))
  switch (name) {
    case 'users':
      return { name: random.pick(TEXTS), score: random.below(4), team: random.pick(recordIds('teams')) }
    case 'teams':
      return {
        title: random.pick(TEXTS),
        tags: several(LETTERS, 3),
        public: random.chance(0.5),
        members: [],
        pin: random.pick(['', '1234', '12']),
        rank: random.pick([0, 1, 1.5, -2]),
      }
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
  return random.pick([
    `${key}+`,
    `${key}-`,
    `+${key}`,
    `${key}:autogenerate`,
    'nope',
    'created',
    'related',
    'members',
    'related+',
    'code:autogenerate',
    'documents',
    'documents-',
    'views+',
    'kinds-',
    'expand',
    'collectionId',
    'tokenKey',
  ])
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
  '2024-05-05T10:00:00+02:00',
  '["a","b"]',
  '{"lon":1,"lat":2}',
  { lon: 200, lat: '5' },
  '007',
  ' a ',
  [null, 1, 'a', 'a'],
]
