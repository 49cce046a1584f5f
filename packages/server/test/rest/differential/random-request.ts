/** Random requests to a random application. */
import type { Random } from '../../../../db/testing/random.ts'
import { ACCOUNT_PASSWORD, ACCOUNTS, idOf, type Json, NAMES, randomBody, randomFields } from './random-app.ts'
import { recordIds, validBody, VIEWS } from './random-app.ts'
import { randomFilter, randomSort } from './random-filter.ts'
import { randomForm, type FormEntry } from './random-form.ts'
import { randomRules } from './random-rules.ts'

export interface AppRequest {
  readonly as: 'super' | 'guest' | (typeof ACCOUNTS)[number]
  readonly method: string
  readonly path: string
  /** JSON. */
  readonly body?: unknown
  /** Instead of it: a form with files. */
  readonly form?: readonly FormEntry[]
  readonly headers?: Readonly<Record<string, string>>
}

type Answerable = Omit<AppRequest, 'as'>

const EXPANDS: Readonly<Record<string, readonly string[]>> = {
  users: [
    'team',
    'posts_via_author',
    'team.members',
    'posts_via_author.team',
    'posts(author)',
    'comments_via_author.post',
  ],
  teams: [
    'members',
    'posts_via_team',
    'users_via_team',
    'members.team',
    'posts_via_team.author',
    'users(team)',
    'members.posts_via_author.comments_via_post.author.team.members.team',
  ],
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
    'comments(post)',
    'comments(post).author',
    'related.related.related',
    ' author . team ',
    'posts_via_related',
    'title',
    'comments_via_author',
    'team.posts_via_team.comments_via_post',
    'author..team',
  ],
  comments: [
    'post',
    'author',
    'post.author',
    'post.team.members',
    'post.comments_via_post',
    'post.comments_via_post.post',
    'post.related.related.related.related.related.related',
  ],
  cards: ['author', 'team', 'post', 'author.team', 'post.author', 'comments_via_post'],
  counts: ['title', 'nope', 'author'],
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
  'expand',
  'expand.*',
  '*,expand.author.*',
  'expand.post.expand.author.id,id',
  ' id , title ',
  'body:excerpt(3)',
  'place.lon',
  'items.id',
  'email,name',
  'expand.comments_via_post.text',
]

export function randomRequest(random: Random): AppRequest {
  const as = random.pick(['super', 'super', 'guest', ...ACCOUNTS] as const)
  const headers = random.chance(0.1) ? { headers: { 'x-test': 'yes' } } : {}
  return { as, ...headers, ...answerable(random, as === 'super') }
}

function answerable(random: Random, isSuperuser: boolean): Answerable {
  const name = random.pick([...NAMES, ...VIEWS, 'posts', 'posts', 'posts'] as const)
  const kind = random.next()
  if (kind < 0.52) return list(random, name, isSuperuser)
  if (kind < 0.62) return { method: 'GET', path: `${recordOf(random, name)}?${showQuery(random, name)}` }
  if (kind < 0.72) return write(random, name, 'POST', newBody(random, name))
  if (kind < 0.86) return write(random, name, 'PATCH', randomBody(random, name))
  if (kind < 0.9) return { method: 'DELETE', path: recordOf(random, name) }
  if (kind < 0.94) return { method: 'POST', path: '/api/batch', body: { requests: batch(random) } }
  if (kind < 0.96) return account(random)
  if (kind < 0.98) return definitionRequest(random, name)
  return mistaken(random, name)
}

function recordsOf(random: Random, name: string): string {
  const called = random.chance(0.05) ? random.pick([name.toUpperCase(), `pbc_${name}`]) : name
  return `/api/collections/${called}/records`
}

function recordOf(random: Random, name: string): string {
  const id = random.chance(0.05) ? random.pick(['nope', '1', 'true', '%20', 'a%2Fb']) : random.pick(recordIds(name))
  return `${recordsOf(random, name)}/${id}`
}

/** As JSON, or as a form with files. */
function write(random: Random, name: string, method: string, body: Json): Answerable {
  const path = method === 'POST' ? recordsOf(random, name) : recordOf(random, name)
  const sent = random.chance(0.25) ? { form: randomForm(random, name, body) } : { body }
  return { method, path: `${path}?${showQuery(random, name)}`, ...sent }
}

function newBody(random: Random, name: string): Json {
  // A record that is made again after its delete has its old place in the order of creation here. So ids are new.
  const id = random.chance(0.1) ? random.pick(['x', 'UPPER0000000000']) : idOf(`${name}new${random.below(10_000)}`)
  const body = random.chance(0.5) ? validBody(random, name) : randomBody(random, name)
  const account =
    name === 'users' && random.chance(0.8)
      ? { email: `${id}@example.com`, password: '12345678', passwordConfirm: random.chance(0.9) ? '12345678' : '1' }
      : {}
  return { id, ...account, ...body }
}

function batch(random: Random): unknown[] {
  if (random.chance(0.03)) return random.pick([[], [{}], [{ method: 'GET', url: '/api/health' }], ['x']])
  return Array.from({ length: 1 + random.below(4) }, () => {
    const name = random.pick([...NAMES, ...NAMES, 'cards', 'nope'])
    const records = `/api/collections/${name}/records`
    const query = random.chance(0.3) && name !== 'nope' ? `?${showQuery(random, name)}` : ''
    const headers = random.chance(0.1) ? { headers: { 'x-test': 'yes', authorization: 'x' } } : {}
    const known = name === 'nope' ? 'posts' : name
    const id = random.pick(recordIds(known))
    switch (random.below(4)) {
      case 0:
        return { method: 'POST', url: records + query, body: newBody(random, known), ...headers }
      case 1:
        return { method: 'PUT', url: records + query, body: newBody(random, known), ...headers }
      case 2:
        return { method: 'PATCH', url: `${records}/${id}${query}`, body: randomBody(random, known), ...headers }
      default:
        return { method: 'DELETE', url: `${records}/${id}`, ...headers }
    }
  })
}

/** Logins and what belongs to them. Wrong names differ, as failed logins of one are limited here. */
function account(random: Random): Answerable {
  const users = '/api/collections/users'
  const identity = random.chance(0.8) ? `${random.pick(ACCOUNTS)}@example.com` : `x${random.below(1e9)}@example.com`
  const expand = random.chance(0.3) ? '?expand=team' : ''
  switch (random.below(6)) {
    case 0:
      return { method: 'GET', path: `/api/collections/${random.pick(['users', 'posts', 'nope'])}/auth-methods` }
    case 1:
      return { method: 'POST', path: `${users}/auth-refresh${expand}` }
    case 2:
      return {
        method: 'POST',
        path: `${users}/impersonate/${random.pick([...recordIds('users'), 'nope'])}${expand}`,
        body: { duration: random.pick([0, 100, -1]) },
      }
    default:
      return {
        method: 'POST',
        path: `${users}/auth-with-password${expand}`,
        body: random.pick<unknown>([
          { identity, password: ACCOUNT_PASSWORD },
          { identity, password: ACCOUNT_PASSWORD },
          { identity, password: ACCOUNT_PASSWORD, identityField: random.pick(['email', 'name', '']) },
          { identity },
          {},
        ]),
      }
  }
}

/** Reads and changes of definitions. */
function definitionRequest(random: Random, name: string): Answerable {
  const path = `/api/collections/${name}`
  const isView = (VIEWS as readonly string[]).includes(name)
  switch (random.below(6)) {
    case 0:
      return {
        method: 'GET',
        path: `/api/collections?${new URLSearchParams({
          filter: random.pick(['name ~ "s"', 'type = "base" && system = false', 'nope = 1', 'created > "2020"']),
          sort: random.pick(['name', '-name', 'type,-name', 'nope']),
          fields: 'name,type,listRule,items.id',
          perPage: random.pick(['1', '3', '100']),
        }).toString()}`,
      }
    case 1:
      return { method: 'GET', path: `${path}?fields=name,type,listRule,fields.name,fields.type,fields.id` }
    case 2:
      return { method: 'PATCH', path: `${path}?fields=id,listRule,viewRule`, body: randomRules(random, name) }
    case 3:
      return {
        method: 'PATCH',
        path: `${path}?fields=id,name,fields`,
        body: isView
          ? { viewQuery: 'SELECT id FROM nope', listRule: null, viewRule: null }
          : { fields: randomFields(random, name) },
      }
    case 4:
      return {
        method: 'PATCH',
        path: `${path}?fields=id`,
        body: random.pick<Json>([
          { listRule: 'nope = 1' },
          { name: 'posts' },
          { indexes: ['CREATE INDEX idx_x ON posts (nope)'] },
          { fields: [] },
          { deleteRule: '@request.auth.nope.x = 1' },
        ]),
      }
    default:
      return { method: 'DELETE', path: `/api/collections/${random.pick(['users', 'posts', 'nope'])}` }
  }
}

/** What no client of PocketBase sends. */
function mistaken(random: Random, name: string): Answerable {
  const records = recordsOf(random, name)
  return random.pick<Answerable>([
    { method: 'POST', path: records, body: [1] },
    { method: 'POST', path: records, body: 'text' },
    { method: 'PUT', path: records, body: {} },
    { method: 'POST', path: `${records}/`, body: {} },
    { method: 'PATCH', path: records, body: {} },
    { method: 'DELETE', path: records },
    { method: 'GET', path: `${recordOf(random, name)}/x` },
    { method: 'POST', path: '/api/batch', body: { requests: 'x' } },
    { method: 'POST', path: '/api/batch', body: { requests: [{ method: 'POST', url: '/api/nope' }] } },
    { method: 'GET', path: '/api/collections/nope/records' },
    { method: 'GET', path: '/api/health' },
    { method: 'DELETE', path: `/api/collections/${name}/truncate` },
  ])
}

function showQuery(random: Random, name: string): string {
  const query: Record<string, string> = {}
  if (random.chance(0.4)) query['expand'] = several(random, EXPANDS[name]!, 3)
  if (random.chance(0.2)) query['fields'] = random.pick(FIELDS)
  if (random.chance(0.03)) query['secret'] = 'x'
  return new URLSearchParams(query).toString()
}

function list(random: Random, name: string, isSuperuser: boolean): Answerable {
  const query = new URLSearchParams(showQuery(random, name))
  // PocketBase's order of records that a filter or a rule joins with others is not stated, so they are sorted.
  const isFiltered = random.chance(0.75)
  if (isFiltered) query.set('filter', randomFilter(random, name))
  if (isFiltered || !isSuperuser || random.chance(0.4)) query.set('sort', randomSort(random, name))
  if (random.chance(0.3)) query.set('perPage', random.pick(['1', '2', '3', '500', '0', '1001', '-1', 'x']))
  if (random.chance(0.2)) query.set('page', random.pick(['1', '2', '3', '100', '0', '1.5']))
  if (random.chance(0.1)) query.set('skipTotal', random.pick(['1', 'true', 'false', 'x']))
  return { method: 'GET', path: `${recordsOf(random, name)}?${query.toString()}` }
}

function several(random: Random, from: readonly string[], most: number): string {
  return Array.from({ length: 1 + random.below(most) }, () => random.pick(from)).join(',')
}
