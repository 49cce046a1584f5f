/** Random requests to a random application. */
import type { Random } from '../../../../db/testing/random.ts'
import { ACCOUNTS, idOf, type Json, LETTERS, NAMES, randomBody, recordIds, validBody } from './random-app.ts'

export interface AppRequest {
  readonly as: 'super' | 'guest' | (typeof ACCOUNTS)[number]
  readonly method: string
  readonly path: string
  readonly body?: Json
}

const TERMS: Readonly<Record<string, readonly string[]>> = {
  users: ['name', 'score', 'team', 'team.title', 'team.public', 'id', 'verified', 'posts_via_author.title', 'email'],
  teams: ['title', 'public', 'tags', 'members', 'members.name', 'posts_via_team.views', 'id', 'users_via_team.score'],
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
    'id',
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
  ],
}
const MULTIPLE = new Set(['tags', 'members', 'kinds', 'related', 'team.tags', 'post.kinds'])
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
]
const EXPANDS: Readonly<Record<string, readonly string[]>> = {
  users: ['team', 'posts_via_author', 'team.members', 'posts_via_author.team'],
  teams: ['members', 'posts_via_team', 'users_via_team', 'members.team', 'posts_via_team.author'],
  posts: [
    'author',
    'team',
    'related',
    'author.team',
    'related.author',
    'comments_via_post',
    'comments_via_post.author',
    'nope',
    'author.nope',
  ],
  comments: ['post', 'author', 'post.author', 'post.team.members', 'post.comments_via_post'],
}
const FIELDS = [
  '*',
  'id',
  'id,title',
  '*,title:excerpt(2,true)',
  'id,expand.author.name',
  'nope',
  'meta.a,meta.list.k',
  'collectionName,id',
]

export function randomRequest(random: Random): AppRequest {
  const as = random.pick(['super', 'super', 'guest', ...ACCOUNTS] as const)
  const name = random.pick([...NAMES, 'posts', 'posts'] as const)
  const records = `/api/collections/${random.chance(0.03) ? name.toUpperCase() : name}/records`
  const id = random.chance(0.05) ? 'nope' : random.pick(recordIds(name))
  const kind = random.next()
  if (kind < 0.6) return { as, method: 'GET', path: `${records}?${listQuery(random, name)}` }
  if (kind < 0.7) return { as, method: 'GET', path: `${records}/${id}?${showQuery(random, name)}` }
  if (kind < 0.8)
    return { as, method: 'POST', path: `${records}?${showQuery(random, name)}`, body: newBody(random, name) }
  if (kind < 0.93)
    return { as, method: 'PATCH', path: `${records}/${id}?${showQuery(random, name)}`, body: randomBody(random, name) }
  if (kind < 0.97) return { as, method: 'DELETE', path: `${records}/${id}` }
  return { as, method: 'POST', path: '/api/batch', body: { requests: batch(random) } }
}

function newBody(random: Random, name: string): Json {
  const id = random.chance(0.1)
    ? random.pick(['x', 'UPPER0000000000', recordIds(name)[0]!])
    : idOf(`${name}new${random.below(30)}`)
  const body = random.chance(0.5) ? validBody(random, name) : randomBody(random, name)
  const account =
    name === 'users' && random.chance(0.8)
      ? { email: `${id}@example.com`, password: '12345678', passwordConfirm: random.chance(0.9) ? '12345678' : '1' }
      : {}
  return { id, ...account, ...body }
}

function batch(random: Random): Json[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(NAMES)
    const records = `/api/collections/${name}/records`
    switch (random.below(4)) {
      case 0:
        return { method: 'POST', url: records, body: newBody(random, name) }
      case 1:
        return { method: 'PUT', url: records, body: newBody(random, name) }
      case 2:
        return { method: 'PATCH', url: `${records}/${random.pick(recordIds(name))}`, body: randomBody(random, name) }
      default:
        return { method: 'DELETE', url: `${records}/${random.pick(recordIds(name))}` }
    }
  })
}

function showQuery(random: Random, name: string): string {
  const query: Record<string, string> = {}
  if (random.chance(0.4)) query['expand'] = several(random, EXPANDS[name]!, 2)
  if (random.chance(0.2)) query['fields'] = random.pick(FIELDS)
  return new URLSearchParams(query).toString()
}

function listQuery(random: Random, name: string): string {
  const query = new URLSearchParams(showQuery(random, name))
  // PocketBase's order of filtered records is not stated, so they are sorted.
  const isFiltered = random.chance(0.75)
  if (isFiltered) query.set('filter', filter(random, name, 2))
  if (isFiltered || random.chance(0.4)) query.set('sort', sort(random, name))
  if (random.chance(0.3)) query.set('perPage', random.pick(['1', '2', '3', '500', '0', '1001', '-1', 'x']))
  if (random.chance(0.2)) query.set('page', random.pick(['1', '2', '3', '100', '0', '1.5']))
  if (random.chance(0.1)) query.set('skipTotal', random.pick(['1', 'true', 'false', 'x']))
  return query.toString()
}

/** The id ends it, as ties may come in any order. */
function sort(random: Random, name: string): string {
  const terms = TERMS[name]!.filter((term) => !term.includes('_via_') && !MULTIPLE.has(term.split('.')[0]!))
  const sign = random.pick(['', '-', '+'])
  const first = random.chance(0.5) ? '' : `${sign}${random.pick(terms)},`
  return random.chance(0.05) ? 'nope' : `${first}${random.pick(['', '-'])}id`
}

function several(random: Random, from: readonly string[], most: number): string {
  return Array.from({ length: 1 + random.below(most) }, () => random.pick(from)).join(',')
}

function filter(random: Random, name: string, depth: number): string {
  if (random.chance(0.02))
    return random.pick(['nope = 1', 'id', 'id = ', '(id = 1', 'id == 1', '@request.auth.id = ""', '@now > 1'])
  if (depth === 0 || random.chance(0.5)) return comparison(random, name)
  const inner = `${filter(random, name, depth - 1)} ${random.pick(['&&', '||'])} ${filter(random, name, depth - 1)}`
  return random.chance(0.3) ? `(${inner})` : inner
}

function comparison(random: Random, name: string): string {
  const term = random.pick(TERMS[name]!)
  const any = random.chance(0.4) ? '?' : ''
  const operator = any + random.pick(OPERATORS)
  const modifier = MULTIPLE.has(term) ? random.pick(['', ':each', ':length']) : random.chance(0.1) ? ':lower' : ''
  const right = random.chance(0.1)
    ? random.pick(TERMS[name]!)
    : random.pick([...LITERALS, `"${idOf(random.pick(LETTERS))}"`, ...ids(random)])
  return `${term}${modifier} ${operator} ${right}`
}

function ids(random: Random): string[] {
  return [random.pick(recordIds('teams')), random.pick(recordIds('posts')), idOf(random.pick(ACCOUNTS))].map(
    (id) => `"${id}"`,
  )
}
