/** Random rules of a random application. */
import type { Random } from '../../../../db/testing/random.ts'

const RULES: Readonly<Record<string, readonly string[]>> = {
  users: [
    'id = @request.auth.id',
    '@request.auth.id != ""',
    'team = @request.auth.team',
    'score > 1',
    'team.public = true',
    'verified = true',
    '@request.body.verified:isset = false',
    '@request.body.name:changed = false',
    'posts_via_author.public ?= true',
    '@request.body.email:isset = false || id = @request.auth.id',
  ],
  teams: [
    'public = true',
    'members ?= @request.auth.id',
    'tags:each ?= "a"',
    'title != "b"',
    'posts_via_team.public ?= true',
    '@request.auth.team = id || public = true',
    '@request.auth.team.title = title',
    '@request.body.members:length < 2',
    '@request.body.tags:each != "c"',
    '@request.body.members ?= @request.auth.id',
    'users_via_team.score > 1',
    '@request.auth.posts_via_author.team ?= id',
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
    '@collection.teams:t.title ?= title && @collection.teams:u.public ?= true',
    '@collection.comments.post ?= id && @collection.comments.text ?!= ""',
    '@request.body.title:isset = false',
    '@request.body.title:changed = false',
    '@request.body.author = @request.auth.id',
    '@request.body.team.public = true',
    '@request.body.related.views ?> 1',
    '@request.body.kinds:each = "a"',
    '@request.body.views >= 0',
    '@request.query.secret = "x" || public = true',
    '@request.headers.x_test = "yes"',
    '@request.method != "DELETE"',
    '@request.context = "default"',
    '@request.context = "expand" || views > 0',
    '@request.auth.collectionName = "users"',
    '@request.auth.verified = true',
    '@request.auth.team.public = true',
    'related.public = true',
    'related.author.team ?= team',
    'created > @yesterday && created <= @now',
    'geoDistance(place.lon, place.lat, 0, 0) < 150',
    "strftime('%Y', published) = '2024'",
    'meta.a != null',
    'title:lower = "a" // the rest of the line',
    'comments_via_post.text !~ "a"',
  ],
  comments: [
    'author = @request.auth.id',
    'post.public = true',
    'post.author = @request.auth.id',
    'text != ""',
    'post.team.public = true',
    'post.comments_via_post.text ?= "a"',
    '@request.body.post.author = @request.auth.id',
    'post.related.author ?= author',
    '@request.context != "batch"',
  ],
  cards: ['id != ""', '@request.auth.id != ""', '@collection.posts.id ?= id', '@collection.posts.public = true'],
  counts: ['id != ""', '@request.auth.id != ""', '@collection.cards.id ?= id'],
}
const RULE_KINDS = ['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule']

/** One rule of each kind; those of accounts have more. */
export function randomRules(random: Random, name: string): Readonly<Record<string, string | null>> {
  const rules = Object.fromEntries(RULE_KINDS.map((kind) => [kind, randomRule(random, name)]))
  if (name !== 'users') return rules
  return {
    ...rules,
    manageRule: random.chance(0.5) ? null : randomRule(random, name) || null,
    authRule: random.chance(0.7) ? '' : randomRule(random, name),
  }
}

function randomRule(random: Random, name: string): string | null {
  if (random.chance(0.1)) return null
  if (random.chance(0.35)) return ''
  const own = RULES[name]!
  if (random.chance(0.7)) return random.pick(own)
  // A comment would end the rule.
  const parts = own.filter((rule) => !rule.includes('//'))
  return `(${random.pick(parts)}) ${random.pick(['&&', '||'])} ${random.pick(parts)}`
}
