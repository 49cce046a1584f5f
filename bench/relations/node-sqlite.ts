/**
 * SQLite in Node as a careful programmer uses it. It has a column for each field, and tables between for what is many. It has
 * an index for each relation and each field that is asked for, prepared statements, and statistics.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Blog, CollectionName } from './blog.ts'
import type { Answer, Contender } from './contender.ts'
import type { Question } from './workloads.ts'

const TABLES = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
  CREATE TABLE organizations (id TEXT PRIMARY KEY, name TEXT);
  CREATE TABLE permissions (id TEXT PRIMARY KEY, name TEXT, active INTEGER);
  CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT, email TEXT, organization TEXT, permissions TEXT);
  CREATE TABLE users_permissions (user TEXT, permission TEXT, PRIMARY KEY (user, permission)) WITHOUT ROWID;
  CREATE TABLE posts (id TEXT PRIMARY KEY, title TEXT, text TEXT, public INTEGER, type TEXT, author TEXT);
  CREATE TABLE posts_type (post TEXT, type TEXT, PRIMARY KEY (post, type)) WITHOUT ROWID`

const INDEXES = `
  CREATE INDEX organizations_name ON organizations (name);
  CREATE INDEX permissions_name ON permissions (name);
  CREATE INDEX users_name ON users (name);
  CREATE INDEX users_organization ON users (organization);
  CREATE INDEX users_permissions_back ON users_permissions (permission, user);
  CREATE INDEX posts_title ON posts (title);
  CREATE INDEX posts_author ON posts (author);
  CREATE INDEX posts_type_back ON posts_type (type, post);
  ANALYZE`

/** How a row becomes the document that was stored. */
const READERS: Readonly<Record<CollectionName, (row: Row) => Answer['rows'][number]>> = {
  organizations: ({ id, name }) => ({ _id: id, name }),
  permissions: ({ id, name, active }) => ({ _id: id, name, active: active === 1 }),
  users: ({ id, permissions, organization, ...rest }) => ({
    _id: id,
    ...rest,
    ...(organization !== null && { organization }),
    permissions: JSON.parse(permissions as string) as string[],
  }),
  posts: ({ id, public: isPublic, type, author, ...rest }) => ({
    _id: id,
    ...rest,
    public: isPublic === 1,
    type: JSON.parse(type as string) as string[],
    ...(author !== null && { author }),
  }),
}

type Row = Readonly<Record<string, unknown>> & { readonly id: string }

export class NodeSqliteContender implements Contender {
  #database!: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  async open(place: string, { organizations, permissions, users, posts }: Blog): Promise<void> {
    const database = new DatabaseSync(place)
    this.#database = database
    database.exec(`${TABLES}; BEGIN`)
    const insert = (table: string, ...values: (string | number | null)[]): void => {
      this.#prepared(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`).run(...values)
    }
    for (const { _id, name } of organizations) insert('organizations', _id, name)
    for (const { _id, name, active } of permissions) insert('permissions', _id, name, Number(active))
    for (const { _id, name, email, organization, permissions: own } of users) {
      insert('users', _id, name, email, organization ?? null, JSON.stringify(own))
      for (const permission of own) insert('users_permissions', _id, permission)
    }
    for (const { _id, title, text, public: isPublic, type, author } of posts) {
      insert('posts', _id, title, text, Number(isPublic), JSON.stringify(type), author ?? null)
      for (const one of type) insert('posts_type', _id, one)
    }
    database.exec(`COMMIT; ${INDEXES}`)
  }

  answer({ of, where: [where, ...values], sort, skip = 0, limit, populate }: Question): Answer {
    const count = this.#prepared(`SELECT count(*) AS total FROM ${of} WHERE ${where}`).get(...values)
    const total = Number(count!['total'])
    if (limit === 0) return { total, rows: [] }
    const order = sort === undefined ? '' : `ORDER BY ${sort.sql}`
    const page = this.#prepared(`SELECT * FROM ${of} WHERE ${where} ${order} LIMIT ? OFFSET ?`)
    const rows = page.all(...values, limit, skip).map((row) => READERS[of](row as Row))
    return { total, rows: populate === undefined ? rows : this.#withAuthors(rows) }
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  #withAuthors(posts: readonly { readonly _id: string; readonly author?: unknown }[]): Answer['rows'] {
    const ids = [...new Set(posts.map(({ author }) => author).filter((author) => author !== undefined))]
    const found = this.#prepared('SELECT * FROM users WHERE id IN (SELECT value FROM json_each(?))')
    const users = new Map(found.all(JSON.stringify(ids)).map((row) => [row['id'], READERS.users(row as Row)]))
    return posts.map((post) =>
      post.author === undefined ? post : { ...post, author: users.get(post.author as string) },
    )
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }
}
