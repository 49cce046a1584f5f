/** What is asked: the shapes of PocketBase's published benchmark, and what its users ask about. */
import { idOf, ORGANIZATIONS, POSTS, postOf, RULED, USERS } from './blog.ts'
import type { Call } from './client.ts'

/** The server, as workloads need it. */
export interface Subject {
  readonly posts: number
  /** The token of the first user. */
  readonly userToken: string
  /** The token of a superuser. */
  readonly token: string
}

export interface Workload {
  readonly name: string
  readonly requests: number
  readonly concurrency: number
  readonly call: (subject: Subject, index: number) => Call
  /** Requests a second, as a multiple of PocketBase's, at 100,000 posts; without and with its indexes where these matter. */
  readonly bar?: number
  readonly barIndexed?: number
  /** What the list rule of the posts is meanwhile; `''` by default. */
  readonly listRule?: string
  /** It changes the data, so it runs once and after the others. */
  readonly isLast?: boolean
}

const records = (collection: string, id = ''): string => `/api/collections/${collection}/records${id && `/${id}`}`
const list = (parameters: Readonly<Record<string, string>> = {}): Call => {
  const query = new URLSearchParams(parameters).toString()
  return { path: records(POSTS) + (query && `?${query}`) }
}
const filtered = (filter: (index: number) => string, more: Readonly<Record<string, string>> = {}): Workload['call'] => {
  return (_subject, index) => list({ filter: filter(index), ...more })
}
const some = (index: number, { posts }: Subject): string => idOf('post', (index * 7919) % posts)
const asUser =
  (more: Readonly<Record<string, string>> = {}): Workload['call'] =>
  ({ userToken: token }) => ({ ...list(more), token })

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'get one',
    requests: 1000,
    concurrency: 100,
    call: (subject, at) => ({ path: records(POSTS, some(at, subject)) }),
  },
  { name: 'list, one at a time', requests: 300, concurrency: 1, call: () => list(), bar: 12 },
  { name: 'list, many at a time', requests: 500, concurrency: 100, call: () => list(), bar: 15 },
  { name: 'list, no total', requests: 1000, concurrency: 100, call: () => list({ skipTotal: '1' }), bar: 1.5 },
  { name: 'list, expand author', requests: 100, concurrency: 10, call: () => list({ expand: 'author' }), bar: 10 },
  { name: 'page 900', requests: 60, concurrency: 10, call: () => list({ page: '900', perPage: '100' }) },
  { name: 'sort by title', requests: 60, concurrency: 10, call: () => list({ sort: '-title' }) },
  {
    name: 'title ~',
    requests: 60,
    concurrency: 10,
    call: filtered((at) => `title ~ 'title ${at}'`),
    bar: 15,
    barIndexed: 15,
  },
  { name: 'type:each !=', requests: 30, concurrency: 10, call: filtered(() => "type:each != 'c'"), bar: 300 },
  { name: 'type:each =', requests: 30, concurrency: 10, call: filtered(() => "type:each = 'a'"), bar: 200 },
  {
    name: 'author.name =',
    requests: 60,
    concurrency: 10,
    call: filtered((at) => `author.name = 'user ${at % USERS}'`),
    barIndexed: 1.5,
  },
  {
    name: 'author.organization.name =',
    requests: 40,
    concurrency: 10,
    call: filtered((at) => `author.organization.name = 'org ${at % ORGANIZATIONS}'`),
    bar: 100,
    barIndexed: 50,
  },
  {
    name: 'author.permissions.active, no total',
    requests: 60,
    concurrency: 10,
    call: filtered(() => 'author.permissions.active = true', { skipTotal: '1' }),
  },
  {
    name: 'author.permissions.active',
    requests: 2,
    concurrency: 1,
    call: filtered(() => 'author.permissions.active = true'),
    bar: 500,
  },
  { name: 'sort by author.name', requests: 10, concurrency: 1, call: () => list({ sort: 'author.name' }) },
  { name: 'rule: logged in', requests: 60, concurrency: 10, call: asUser(), listRule: "@request.auth.id != ''" },
  {
    name: 'rule: author',
    requests: 60,
    concurrency: 10,
    call: asUser(),
    listRule: 'author = @request.auth.id',
    bar: 40,
    barIndexed: 2,
  },
  {
    name: 'rule: author, no total',
    requests: 60,
    concurrency: 10,
    call: asUser({ skipTotal: '1' }),
    listRule: 'author = @request.auth.id',
  },
  {
    name: 'lists and updates',
    requests: 650,
    concurrency: 100,
    call: (subject, at) =>
      at % 13 < 3
        ? { method: 'PATCH', path: records(POSTS, some(at, subject)), body: { title: `changed ${at}` } }
        : list(),
  },
  {
    name: 'token refresh',
    requests: 1000,
    concurrency: 100,
    call: ({ userToken: token }) => ({ method: 'POST', path: '/api/collections/people/auth-refresh', token }),
  },
  {
    name: 'create, one at a time',
    requests: 500,
    concurrency: 1,
    call: ({ posts }, at) => ({ method: 'POST', path: records(POSTS), body: postOf(posts + at) }),
    bar: 1.2,
  },
  {
    name: 'create, 100 at a time',
    requests: 3000,
    concurrency: 100,
    call: ({ posts }, at) => ({ method: 'POST', path: records(POSTS), body: postOf(posts + at) }),
    bar: 1.5,
  },
  {
    name: 'create with rule, 100 at a time',
    requests: 3000,
    concurrency: 100,
    call: ({ userToken: token }, at) => ({ method: 'POST', path: records(RULED), body: postOf(at), token }),
    bar: 2,
  },
  {
    name: 'delete organizations, cascade',
    requests: ORGANIZATIONS,
    concurrency: 10,
    call: ({ token }, at) => ({ method: 'DELETE', path: records('organizations', idOf('org', at)), token }),
    bar: 3,
    barIndexed: 1.5,
    isLast: true,
  },
]

/** What a user of PocketBase would index for these questions. */
export const INDEXES: readonly (readonly [collection: string, indexes: readonly string[]])[] = [
  [POSTS, ['CREATE INDEX posts_author ON posts (author)', 'CREATE INDEX posts_title ON posts (title)']],
  [RULED, ['CREATE INDEX ruled_author ON posts_ruled (author)']],
  [
    'people',
    ['CREATE INDEX people_name ON people (name)', 'CREATE INDEX people_organization ON people (organization)'],
  ],
  ['organizations', ['CREATE INDEX organizations_name ON organizations (name)']],
]
