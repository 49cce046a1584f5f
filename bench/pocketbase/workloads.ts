/** Requests of the workloads: the shapes of PocketBase's published benchmark, and common questions of its users. */
import { idOf, ORGANIZATIONS, POSTS, postOf, RULED, USERS } from './blog.ts'
import type { Call } from './http-socket.ts'
import { LIVE, type Audience } from './subscribers.ts'

/** The subject of workloads: the server, as they see it. */
export interface Subject {
  readonly posts: number
  /** The token of the first user. */
  readonly userToken: string
  /** The token of a superuser. */
  readonly token: string
}

export interface Workload {
  readonly name: string
  /** The most requests in a round. */
  readonly requests?: number
  readonly concurrency: number
  readonly call: (subject: Subject, index: number) => Call
  /** Requests a second, as a multiple of PocketBase's, at 100,000 posts; `barIndexed`: with its indexes, if it is another bar then. */
  readonly bar?: number
  readonly barIndexed?: number
  /** The bar with few posts. */
  readonly barSmall?: number
  /** The list rule of the posts meanwhile; `''` by default. */
  readonly listRule?: string
  /** Another client asks for this meanwhile, and it is noted how long it waits. */
  readonly watched?: Call
  /** Subscribers: if there are some, the time until they hear of each request is measured. */
  readonly audience?: Audience
  /** True for a workload that uses the data up. */
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
    concurrency: 100,
    call: (subject, at) => ({ path: records(POSTS, some(at, subject)) }),
  },
  { name: 'list, one at a time', concurrency: 1, call: () => list(), bar: 12, barSmall: 2 },
  { name: 'list, many at a time', concurrency: 100, call: () => list(), bar: 15, barSmall: 2 },
  { name: 'list, 1,000 at a time', concurrency: 1000, call: () => list(), bar: 15, barSmall: 2 },
  { name: 'list, no total', concurrency: 100, call: () => list({ skipTotal: '1' }), bar: 1.5 },
  { name: 'list, expand author', concurrency: 10, call: () => list({ expand: 'author' }), bar: 10 },
  { name: 'page 900', concurrency: 10, call: () => list({ page: '900', perPage: '100' }) },
  { name: 'sort by title', concurrency: 10, call: () => list({ sort: '-title' }) },
  {
    name: 'title ~',
    concurrency: 10,
    call: filtered((at) => `title ~ 'title ${at}'`),
    bar: 15,
  },
  { name: 'title:lower =', concurrency: 10, call: filtered((at) => `title:lower = 'title ${at}'`) },
  { name: 'type:each !=', concurrency: 10, call: filtered(() => "type:each != 'c'"), bar: 300 },
  { name: 'type:each =', concurrency: 10, call: filtered(() => "type:each = 'a'"), bar: 200 },
  {
    name: 'author.name =',
    concurrency: 10,
    call: filtered((at) => `author.name = 'user ${at % USERS}'`),
    barIndexed: 1.5,
  },
  {
    name: 'author.organization.name =',
    concurrency: 10,
    call: filtered((at) => `author.organization.name = 'org ${at % ORGANIZATIONS}'`),
    bar: 100,
    barIndexed: 50,
  },
  {
    name: 'author.permissions.active, no total',
    concurrency: 10,
    call: filtered(() => 'author.permissions.active = true', { skipTotal: '1' }),
  },
  {
    name: 'author.permissions.active',
    concurrency: 1,
    call: filtered(() => 'author.permissions.active = true'),
    bar: 500,
  },
  { name: 'sort by author.name', concurrency: 1, call: () => list({ sort: 'author.name' }) },
  { name: 'rule: logged in', concurrency: 10, call: asUser(), listRule: "@request.auth.id != ''" },
  {
    name: 'rule: author',
    concurrency: 10,
    call: asUser(),
    listRule: 'author = @request.auth.id',
    bar: 40,
    barIndexed: 2,
  },
  {
    name: 'rule: author, no total',
    concurrency: 10,
    call: asUser({ skipTotal: '1' }),
    listRule: 'author = @request.auth.id',
  },
  {
    name: 'lists and updates',
    concurrency: 100,
    call: (subject, at) =>
      at % 13 < 3
        ? { method: 'PATCH', path: records(POSTS, some(at, subject)), body: { title: `changed ${at}` } }
        : list(),
  },
  {
    name: 'token refresh',
    concurrency: 100,
    call: ({ userToken: token }) => ({ method: 'POST', path: '/api/collections/people/auth-refresh', token }),
  },
  {
    name: 'create, one at a time',
    concurrency: 1,
    call: ({ posts }, at) => ({ method: 'POST', path: records(POSTS), body: postOf(posts + at) }),
    bar: 1.2,
  },
  {
    name: 'create, 100 at a time',
    concurrency: 100,
    call: ({ posts }, at) => ({ method: 'POST', path: records(POSTS), body: postOf(posts + at) }),
    bar: 1.5,
  },
  {
    name: 'create with rule, 100 at a time',
    concurrency: 100,
    call: ({ userToken: token }, at) => ({ method: 'POST', path: records(RULED), body: postOf(at), token }),
    bar: 2,
  },
  {
    name: 'event to all of 1,000',
    concurrency: 1,
    requests: 20,
    audience: { size: 1000, filter: (index) => `votes > ${-1 - index}`, heardBy: 1000 },
    call: (_subject, at) => ({ method: 'POST', path: records(LIVE), body: { room: 'a', votes: at } }),
    bar: 10,
    barSmall: 10,
  },
  {
    name: 'event to one of 1,000',
    concurrency: 1,
    requests: 40,
    audience: { size: 1000, filter: (index) => `room = 'r${index}'`, heardBy: 1 },
    call: (_subject, at) => ({ method: 'POST', path: records(LIVE), body: { room: `r${(at * 7) % 1000}`, votes: at } }),
    bar: 10,
    barSmall: 10,
  },
  {
    name: 'delete organizations, cascade',
    concurrency: 10,
    call: ({ token }, at) => ({ method: 'DELETE', path: records('organizations', idOf('org', at)), token }),
    requests: ORGANIZATIONS,
    bar: 3,
    barIndexed: 1.5,
    watched: { path: records('permissions', idOf('perm', 0)) },
    isLast: true,
  },
]

/** The warm-up of servers before a workload that uses the data up. */
export const WARM_UP_OF_LAST: Workload = {
  name: 'delete posts',
  concurrency: 10,
  requests: 500,
  call: ({ token, posts }, at) => ({ method: 'DELETE', path: records(POSTS, idOf('post', posts - 1 - at)), token }),
}

/** A write beside a workload: every other time a new post. */
export function writeOf(subject: Subject, index: number): Call {
  if (index % 2 === 0) return { method: 'POST', path: records(POSTS), body: postOf(subject.posts + index) }
  return { method: 'PATCH', path: records(POSTS, some(index, subject)), body: { title: `title ${index} changed` } }
}
