/** Random filters and sorts of a random application. */
import type { Random } from '../../../../db/testing/random.ts'
import { ACCOUNTS, idOf, LETTERS, recordIds } from './random-app.ts'

/** Paths by collection. Those of views are of any of their queries, so some are unknown. */
const TERMS: Readonly<Record<string, readonly string[]>> = {
  users: [
    'name',
    'score',
    'team',
    'team.title',
    'team.public',
    'id',
    'verified',
    'posts_via_author.title',
    'email',
    'avatar',
    'created',
    'team.members.name',
    'posts_via_author.comments_via_post.text',
    'emailVisibility',
  ],
  teams: [
    'title',
    'public',
    'tags',
    'members',
    'members.name',
    'posts_via_team.views',
    'id',
    'users_via_team.score',
    'rank',
    'members.email',
    'posts_via_team.author.name',
    'created',
    'posts_via_team.kinds',
  ],
  posts: [
    'title',
    'body',
    'views',
    'public',
    'kind',
    'kinds',
    'published',
    'meta',
    'meta.a',
    'meta.list.k',
    'id',
    'place.lon',
    'link',
    'author',
    'author.name',
    'author.team.title',
    'team',
    'team.tags',
    'team.members.name',
    'related',
    'related.views',
    'related.author.score',
    'comments_via_post.text',
    'comments_via_post.author.name',
    'code',
    'mail',
    'documents',
    'place',
    'meta.list.0.k',
    'author.email',
    'created',
    'related.kinds',
    'team.rank',
    'posts_via_related.title',
    'related.related.title',
    'author.posts_via_author.views',
    'meta.1',
  ],
  comments: [
    'text',
    'post',
    'post.title',
    'post.views',
    'post.author.name',
    'post.kinds',
    'author',
    'author.score',
    'id',
    'post.related.title',
    'post.comments_via_post.text',
    'post.meta.a',
    'author.team.members',
    'post.place.lat',
  ],
  cards: [
    'id',
    'title',
    'name',
    'views',
    'author.name',
    'writer',
    'team.title',
    'kinds',
    'meta.a',
    'post.title',
    'letters',
  ],
  // Its computed columns have no type in PocketBase: they are compared with numbers only, see below.
  counts: ['id', 'title', 'public'],
}
const MULTIPLE = new Set([
  'tags',
  'members',
  'kinds',
  'related',
  'team.tags',
  'post.kinds',
  'documents',
  'related.kinds',
  'author.team.members',
  'posts_via_team.kinds',
])
const OPERATORS = ['=', '!=', '>', '>=', '<', '<=', '~', '!~']
const LITERALS = [
  '""',
  '"a"',
  '"b"',
  '"A"',
  '"%a"',
  '0',
  '1',
  '2',
  '-1',
  '1.5',
  'true',
  'false',
  'null',
  '"2024-06-01"',
  '"_"',
  "'it\\'s'",
  '"a\\"b"',
  '"1"',
  '"true"',
  '"[]"',
  '"a%b"',
  '"\\\\%"',
  '@now',
  '@yearStart',
  '@todayEnd',
  'TRUE',
]
/** Whole comparisons that no path and literal make. */
const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  any: [
    '@request.auth.id = id',
    '@request.auth.id != ""',
    '@request.query.page:isset = true',
    '@request.method = "GET"',
    '@collection.teams.public ?= true',
    '@collection.posts:p.author ?= id',
    '@collection.nope.id = 1',
    '1 = 1',
    '"a" = "a"',
    'id:isset = true',
    'id:changed = false',
    'id = id',
    '@now > created',
    'id != @now',
    'id != "" // all',
    '@request.headers.x_test = ""',
    '(((id != "")))',
    'id:length > 2',
    'id:each = "a"',
    'nope() = 1',
  ],
  posts: [
    'geoDistance(place.lon, place.lat, 1, 1) < 200',
    'geoDistance(0, 0, 1, place.lat) >= 111.2',
    "strftime('%Y-%m', published) = '2024-06'",
    "strftime('%w', published, '+1 day') > 2",
    'geoDistance(1, 2) = 1',
    "strftime('%H:%M', published) != null",
    'views = author.score',
    'title = author.name',
    'team != author.team',
    'related.id ?= id',
    'comments_via_post.text ?= title',
    'kinds:each ?= kind',
    'related:length = views',
    'author.team = team',
    'comments_via_post.author ?!= author',
    'meta.a = views',
    'title:lower ~ author.name:lower',
  ],
  counts: ['posts > 1', 'views = 2', 'most ?>= 1', 'mean < 2', 'open = 1', 'posts = 0', 'posts = most'],
  teams: ['members:length >= users_via_team.score', 'members.team ?= id', 'tags:each ?= title', 'rank = tags:length'],
}
const MISTAKES = [
  'nope = 1',
  'id',
  'id = ',
  '(id = 1',
  'id == 1',
  '@request.auth.id = ""',
  '@now > 1',
  'id = 1 && ',
  ' ',
  'id = "',
  'team.nope.x = 1',
  'id.x = 1',
  'title:nope = 1',
  'password = "a"',
  'tokenKey != ""',
  'author.tokenKey != ""',
  'comments_via_nope.id = 1',
  'a_via_b = 1',
  "strftime() = ''",
  '@nope = 1',
  'id and id',
  'author.team.nope ?= 1',
]

export function randomFilter(random: Random, name: string, depth = 2): string {
  if (random.chance(0.02)) return random.pick(MISTAKES)
  if (depth === 0 || random.chance(0.5)) return comparison(random, name)
  const [one, other] = [randomFilter(random, name, depth - 1), randomFilter(random, name, depth - 1)]
  const inner = `${one}${one.includes('//') ? '\n' : ' '}${random.pick(['&&', '||'])} ${other}`
  return random.chance(0.3) ? `(${inner}${inner.includes('//') ? '\n' : ''})` : inner
}

function comparison(random: Random, name: string): string {
  if (random.chance(0.1)) return random.pick([...COMPARISONS['any']!, ...(COMPARISONS[name] ?? [])])
  const term = random.pick(TERMS[name]!)
  const any = random.chance(0.4) ? '?' : ''
  const operator = any + random.pick(OPERATORS)
  const modifier = MULTIPLE.has(term) ? random.pick(['', ':each', ':length']) : random.chance(0.1) ? ':lower' : ''
  const right = random.chance(0.1)
    ? random.pick(TERMS[name]!)
    : random.pick([...LITERALS, `"${idOf(random.pick(LETTERS))}"`, ...ids(random)])
  return random.chance(0.05) ? `${right} ${operator} ${term}${modifier}` : `${term}${modifier} ${operator} ${right}`
}

function ids(random: Random): string[] {
  return [random.pick(recordIds('teams')), random.pick(recordIds('posts')), idOf(random.pick(ACCOUNTS))].map(
    (id) => `"${id}"`,
  )
}

/** Paths that no two servers sort by alike: names of files end by chance, and two records of one millisecond are of two elsewhere. */
const UNSORTED = new Set(['created', 'avatar', 'documents'])

/** The id ends it, as ties may come in any order. */
export function randomSort(random: Random, name: string): string {
  const end = `${random.pick(['', '-'])}id`
  if (random.chance(0.05)) return random.pick(['nope', 'id,', '"a"', 'null', 'id.x', 'team.nope', '@nope'])
  // PocketBase's order by a back-relation depends on the index that SQLite makes for the query.
  const known = TERMS[name]!.filter((term) => !term.includes('_via_') && !UNSORTED.has(term))
  const terms = known.filter((term) => !MULTIPLE.has(term.split('.')[0]!))
  const many = known.filter((term) => MULTIPLE.has(term)).map((term) => `${term}:length`)
  const first = random.chance(0.1) ? [...many, ...terms.map((term) => `${term}:lower`)] : terms
  const count = random.pick([0, 1, 1, 2])
  const keys = Array.from({ length: count }, () => random.pick(['', '-', '+']) + random.pick(first))
  return [...keys, end].join(random.chance(0.1) ? ' , ' : ',')
}
