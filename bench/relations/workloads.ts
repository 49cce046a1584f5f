/**
 * Questions about the blog. Each workload says it three times: as a query of Pannier, as SQL over proper tables, and as plain code over
 * arrays (`matches`, `order`). The plain code checks the other two.
 */
import {
  TYPES,
  type Blog,
  type CollectionName,
  type Organization,
  type Permission,
  type Post,
  type User,
} from './blog.ts'

type SqlValue = string | number

/** One question: a page of documents and how many there are in all. */
export interface Question {
  readonly of: CollectionName
  readonly selector: object
  /** As Pannier's `sort` takes it; SQL's ORDER BY; and in code. */
  readonly sort?: { readonly fields: readonly string[]; readonly sql: string; readonly compare: Compare }
  readonly skip?: number
  /** The limit of rows; 0: only the total is asked for. */
  readonly limit: number
  readonly populate?: readonly string[]
  /** A condition in SQL, with its values. */
  readonly where: readonly [sql: string, ...values: SqlValue[]]
  readonly matches: (document: never, look: Lookup) => boolean
}

export interface Workload {
  readonly name: string
  /** The bar in milliseconds with 100,000 posts, warm. */
  readonly barMs: number
  readonly ask: (blog: Blog, random: () => number) => Question
}

type Compare = (left: never, right: never, look: Lookup) => number

/** The documents that a field leads to. */
export class Lookup {
  readonly #organizations: ReadonlyMap<string, Organization>
  readonly #permissions: ReadonlyMap<string, Permission>
  readonly #users: ReadonlyMap<string, User>
  readonly #posts: ReadonlyMap<string | undefined, readonly Post[]>

  constructor({ organizations, permissions, users, posts }: Blog) {
    this.#organizations = byId(organizations)
    this.#permissions = byId(permissions)
    this.#users = byId(users)
    this.#posts = Map.groupBy(posts, ({ author }) => author)
  }

  author({ author }: Post): User | undefined {
    return author === undefined ? undefined : this.#users.get(author)
  }

  organization(user: User | undefined): Organization | undefined {
    return user?.organization === undefined ? undefined : this.#organizations.get(user.organization)
  }

  permissions(user: User | undefined): readonly Permission[] {
    return user?.permissions.map((id) => this.#permissions.get(id)!) ?? []
  }

  posts({ _id }: User): readonly Post[] {
    return this.#posts.get(_id) ?? []
  }
}

function byId<T extends { readonly _id: string }>(documents: readonly T[]): ReadonlyMap<string, T> {
  return new Map(documents.map((document) => [document._id, document]))
}

const PAGE = 30
const CREATED = { fields: ['$created'], sql: 'rowid', compare: () => 0 }
const BY_ID = { fields: ['_id'], sql: 'id', compare: (left: Post, right: Post) => order(left._id, right._id) }
const everything = (): boolean => true
const AUTHOR = 'author IN (SELECT id FROM users WHERE'
const AUTHOR_OF = 'author IN (SELECT users.id FROM users JOIN organizations ON organizations.id = organization WHERE'
const HAS_TYPE = 'EXISTS (SELECT 1 FROM posts_type WHERE post = posts.id AND type ='
const PERMISSIONS_OF =
  'SELECT 1 FROM users_permissions JOIN permissions ON permissions.id = permission WHERE user = users.id'

/** From `posts`, a page in the order of creation unless another is named. */
function ofPosts(
  selector: object,
  where: Question['where'],
  matches: (post: Post, look: Lookup) => boolean,
  more: Partial<Question> = {},
): Question {
  return { of: 'posts', selector, where, matches, sort: CREATED, limit: PAGE, ...more }
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'list', barMs: 0.15, ask: () => ofPosts({}, ['1'], everything) },
  {
    name: 'deep page',
    barMs: 0.5,
    ask: ({ posts }) => ofPosts({}, ['1'], everything, { skip: Math.floor(posts.length * 0.9), limit: 100 }),
  },
  {
    name: 'sorted by title',
    barMs: 0.15,
    ask: () => {
      const sort = {
        fields: ['-title'],
        sql: 'title DESC',
        compare: (left: Post, right: Post) => order(right.title, left.title),
      }
      return ofPosts({}, ['1'], everything, { sort })
    },
  },
  {
    name: 'author',
    barMs: 0.25,
    ask: ({ users }, random) => {
      const { _id } = pick(users, random)
      return ofPosts({ author: _id }, ['author = ?', _id], ({ author }) => author === _id)
    },
  },
  {
    name: 'title contains',
    barMs: 3,
    ask: (_, random) => {
      const part = pick(['title 12', 'LOR S', 'TEMPOR', 'qua', '7 l', 'a d', 'zzz'], random)
      const folded = part.toLowerCase()
      return ofPosts({ title: { $contains: part } }, ['title LIKE ?', `%${part}%`], ({ title }) =>
        title.toLowerCase().includes(folded),
      )
    },
  },
  {
    name: 'no type, by id',
    barMs: 0.375,
    ask: (_, random) => {
      const type = pick(TYPES, random)
      const where = [`NOT ${HAS_TYPE} ?)`, type] as const
      return ofPosts({ type: { $ne: type } }, where, (post) => !post.type.includes(type), { sort: BY_ID })
    },
  },
  {
    name: 'no type, count',
    barMs: 0.1,
    ask: (_, random) => {
      const type = pick(TYPES, random)
      const where = [`NOT ${HAS_TYPE} ?)`, type] as const
      return ofPosts({ type: { $ne: type } }, where, (post) => !post.type.includes(type), { limit: 0 })
    },
  },
  {
    name: 'only this type',
    barMs: 0.4,
    ask: (_, random) => {
      const type = pick(TYPES, random)
      const where = [`${HAS_TYPE} ?) AND NOT EXISTS (SELECT 1 FROM posts_type WHERE post = posts.id AND type <> ?)`]
      return ofPosts(
        { type: { $allMatch: { $eq: type } } },
        [where[0]!, type, type],
        (post) => post.type.length > 0 && post.type.every((one) => one === type),
      )
    },
  },
  {
    name: 'one of two types',
    barMs: 0.6,
    ask: (_, random) => {
      const types = [pick(TYPES, random), pick(TYPES, random)] as const
      const where = ['EXISTS (SELECT 1 FROM posts_type WHERE post = posts.id AND type IN (?, ?))', ...types] as const
      return ofPosts({ type: { $in: types } }, where, (post) => post.type.some((one) => types.includes(one)))
    },
  },
  {
    name: 'author.name',
    barMs: 0.9,
    ask: ({ users }, random) => {
      const { name } = pick(users, random)
      return ofPosts(
        { 'author.name': name },
        [`${AUTHOR} name = ?)`, name],
        (post, look) => look.author(post)?.name === name,
      )
    },
  },
  {
    name: 'author.organization.name',
    barMs: 0.9,
    ask: ({ organizations }, random) => byOrganization(pick(organizations, random).name, CREATED),
  },
  {
    name: 'author.organization.name, by id',
    barMs: 0.9,
    ask: ({ organizations }, random) => byOrganization(pick(organizations, random).name, BY_ID),
  },
  {
    name: 'author.permissions: every active',
    barMs: 1.2,
    ask: () =>
      ofPosts(
        { 'author.permissions': { $every: { active: true } } },
        [`${AUTHOR} EXISTS (${PERMISSIONS_OF}) AND NOT EXISTS (${PERMISSIONS_OF} AND NOT active))`],
        (post, look) => {
          const permissions = look.permissions(look.author(post))
          return permissions.length > 0 && permissions.every(({ active }) => active)
        },
      ),
  },
  {
    name: 'author.permissions.name',
    barMs: 1.2,
    ask: ({ permissions }, random) => {
      const wanted = pick(permissions, random).name
      return ofPosts(
        { 'author.permissions.name': wanted },
        [`${AUTHOR} EXISTS (${PERMISSIONS_OF} AND permissions.name = ?))`, wanted],
        (post, look) => look.permissions(look.author(post)).some(({ name }) => name === wanted),
      )
    },
  },
  {
    name: 'users: posts_via_author.title contains',
    barMs: 3.75,
    ask: (_, random) => {
      const part = `title ${10 + Math.floor(random() * 90)}`
      return {
        of: 'users',
        selector: { 'posts_via_author.title': { $contains: part } },
        sort: BY_ID,
        limit: PAGE,
        where: ['EXISTS (SELECT 1 FROM posts WHERE author = users.id AND title LIKE ?)', `%${part}%`],
        matches: (user: User, look) => look.posts(user).some(({ title }) => title.includes(part)),
      }
    },
  },
  {
    name: 'users: some public post',
    barMs: 3.75,
    ask: (_, random) => {
      const type = pick(TYPES, random)
      return {
        of: 'users',
        selector: { posts_via_author: { $some: { public: true, type } } },
        sort: BY_ID,
        limit: PAGE,
        where: [`EXISTS (SELECT 1 FROM posts WHERE author = users.id AND public AND ${HAS_TYPE} ?))`, type],
        matches: (user: User, look) => look.posts(user).some((post) => post.public && post.type.includes(type)),
      }
    },
  },
  {
    name: 'author.name or author.organization.name',
    barMs: 0.9,
    ask: ({ users, organizations }, random) => {
      const { name } = pick(users, random)
      const organization = pick(organizations, random).name
      return ofPosts(
        { $or: [{ 'author.name': name }, { 'author.organization.name': organization }] },
        [`${AUTHOR} name = ?) OR ${AUTHOR_OF} organizations.name = ?)`, name, organization],
        (post, look) => {
          const author = look.author(post)
          return author?.name === name || look.organization(author)?.name === organization
        },
      )
    },
  },
  {
    name: 'sorted by author.name',
    barMs: 0.6,
    ask: (_, random) => {
      const sort = {
        fields: ['author.name', '$created'],
        sql: '(SELECT name FROM users WHERE users.id = author), rowid',
        compare: (left: Post, right: Post, look: Lookup) => order(look.author(left)?.name, look.author(right)?.name),
      }
      return ofPosts({}, ['1'], everything, { sort, skip: PAGE * Math.floor(random() * 300) })
    },
  },
  { name: 'list with authors', barMs: 0.25, ask: () => ofPosts({}, ['1'], everything, { populate: ['author'] }) },
  { name: '500 ids, count', barMs: 1.5, ask: ({ posts }, random) => byIds(posts, 500, random) },
  { name: '10,000 ids, count', barMs: 10, ask: ({ posts }, random) => byIds(posts, 10_000, random) },
]

function byOrganization(name: string, sort: Question['sort']): Question {
  return ofPosts(
    { 'author.organization.name': name },
    [`${AUTHOR_OF} organizations.name = ?)`, name],
    (post, look) => look.organization(look.author(post))?.name === name,
    { sort: sort! },
  )
}

function byIds(posts: readonly Post[], count: number, random: () => number): Question {
  const ids = Array.from({ length: count }, () => pick(posts, random)._id)
  const wanted = new Set(ids)
  return ofPosts(
    { _id: { $in: ids } },
    ['id IN (SELECT value FROM json_each(?))', JSON.stringify(ids)],
    ({ _id }) => wanted.has(_id),
    { limit: 0 },
  )
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)]!
}

/** Orders two values; a missing value comes first. */
function order(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0
  return left === undefined || (right !== undefined && left < right) ? -1 : 1
}
