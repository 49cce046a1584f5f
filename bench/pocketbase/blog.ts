/**
 * The data of PocketBase's published benchmark: organizations, permissions, users, and posts of these users. A part of the relations
 * leads nowhere. Records have the same ids on every server, so that answers can be compared.
 */
import { seededRandom } from '../../packages/db/testing/random.ts'
import type { ApiClient } from './client.ts'

export const ORGANIZATIONS = 100
export const PERMISSIONS = 50
export const USERS = 500
export const TYPES = ['a', 'b', 'c', 'd', 'e'] as const
export const PASSWORD = '1234567890'
export const POSTS = 'posts'
export const RULED = 'posts_ruled'

const BATCH = 500
/** The number of records in a batch if their passwords are hashed: on a busy machine larger batches outlast a connection. */
const HASHED_BATCH = 50
const OPEN = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore'.split(
    ' ',
  )

export function idOf(kind: string, index: number): string {
  return `${kind}${String(index).padStart(15 - kind.length, '0')}`
}

export function postOf(index: number): Record<string, unknown> {
  const random = seededRandom(index)
  const text = (words: number): string => Array.from({ length: words }, () => random.pick(WORDS)).join(' ')
  return {
    title: `title ${index} ${text(4)}`,
    description: `<p>${text(80)}</p>`,
    public: index % 2 === 0,
    type: TYPES.filter((_, bit) => ((index >> bit) & 1) === 1).slice(0, 3),
    author: index % 200 === 199 ? '' : idOf('user', random.below(USERS)),
  }
}

/** Makes the collections, and all records but the posts. */
export async function makeBlog(client: ApiClient): Promise<void> {
  await client.ask({ method: 'PATCH', path: '/api/settings', body: SETTINGS })
  await client.ask({ method: 'PUT', path: '/api/collections/import', body: { collections: DEFINITIONS } })
  for (const { name, count, recordOf, batch } of TABLES) await createAll(client, name, count, recordOf, batch)
}

/** All records but the posts. */
export const TABLES: readonly {
  readonly name: string
  readonly count: number
  readonly recordOf: (at: number) => object
  /** How many are made at once. */
  readonly batch?: number
}[] = [
  { name: 'organizations', count: ORGANIZATIONS, recordOf: (at) => ({ id: idOf('org', at), name: `org ${at}` }) },
  {
    name: 'permissions',
    count: PERMISSIONS,
    recordOf: (at) => ({ id: idOf('perm', at), name: `perm ${at}`, active: at % 2 === 0 }),
  },
  {
    name: 'people',
    count: USERS,
    batch: HASHED_BATCH,
    recordOf: (at) => ({
      id: idOf('user', at),
      email: `user${at}@example.com`,
      password: PASSWORD,
      passwordConfirm: PASSWORD,
      name: `user ${at}`,
      organization: at % 50 === 49 ? '' : idOf('org', at % ORGANIZATIONS),
      permissions: at % 40 === 39 ? [] : [0, 1, 2].map((nth) => idOf('perm', (at * 7 + nth * 13) % PERMISSIONS)),
    }),
  },
]

/** Posts in batches, as fast as the server takes them. */
export function makePosts(client: ApiClient, count: number): Promise<void> {
  return createAll(client, POSTS, count, (at) => ({ id: idOf('post', at), ...postOf(at) }))
}

/** Sets the list rule of the posts. */
export async function setListRule(client: ApiClient, listRule: string): Promise<void> {
  await client.ask({ method: 'PATCH', path: `/api/collections/${POSTS}`, body: { listRule } })
}

export async function makeIndexes(client: ApiClient): Promise<void> {
  for (const [collection, indexes] of INDEXES)
    await client.ask({ method: 'PATCH', path: `/api/collections/${collection}`, body: { indexes } })
}

async function createAll(
  client: ApiClient,
  collection: string,
  count: number,
  record: (index: number) => object,
  batch = BATCH,
): Promise<void> {
  const url = `/api/collections/${collection}/records`
  for (let from = 0; from < count; from += batch) {
    const size = Math.min(batch, count - from)
    const requests = Array.from({ length: size }, (_, at) => ({ method: 'POST', url, body: record(from + at) }))
    await client.ask({ method: 'POST', path: '/api/batch', body: { requests } })
  }
}

const SETTINGS = {
  batch: { enabled: true, maxRequests: BATCH, timeout: 600 },
  rateLimits: { enabled: false },
  logs: { maxDays: 0 },
}

const relation = (name: string, collectionId: string, options: object = {}): object => ({
  name,
  type: 'relation',
  collectionId,
  maxSelect: 1,
  ...options,
})

const POST_FIELDS: readonly object[] = [
  { name: 'title', type: 'text', required: true },
  { name: 'description', type: 'editor' },
  { name: 'public', type: 'bool' },
  { name: 'type', type: 'select', values: TYPES, maxSelect: 3 },
  relation('author', 'benchpeople', { cascadeDelete: true }),
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
]

export const DEFINITIONS: readonly object[] = [
  {
    id: 'benchorganizations',
    name: 'organizations',
    type: 'base',
    ...OPEN,
    fields: [{ name: 'name', type: 'text', required: true }],
  },
  {
    id: 'benchpermissions',
    name: 'permissions',
    type: 'base',
    ...OPEN,
    fields: [
      { name: 'name', type: 'text', required: true },
      { name: 'active', type: 'bool' },
    ],
  },
  {
    id: 'benchpeople',
    name: 'people',
    type: 'auth',
    ...OPEN,
    fields: [
      { name: 'name', type: 'text' },
      relation('organization', 'benchorganizations', { cascadeDelete: true }),
      relation('permissions', 'benchpermissions', { maxSelect: 10 }),
    ],
  },
  { id: 'benchposts', name: POSTS, type: 'base', ...OPEN, fields: POST_FIELDS },
  {
    id: 'benchruled',
    name: RULED,
    type: 'base',
    ...OPEN,
    createRule: "@request.auth.id != '' && @request.body.public:isset = true",
    fields: POST_FIELDS,
  },
]

/** Indexes that a user of PocketBase would make for these questions. */
const INDEXES: readonly (readonly [collection: string, indexes: readonly string[]])[] = [
  [POSTS, ['CREATE INDEX posts_author ON posts (author)', 'CREATE INDEX posts_title ON posts (title)']],
  [RULED, ['CREATE INDEX ruled_author ON posts_ruled (author)']],
  [
    'people',
    ['CREATE INDEX people_name ON people (name)', 'CREATE INDEX people_organization ON people (organization)'],
  ],
  ['organizations', ['CREATE INDEX organizations_name ON organizations (name)']],
]
