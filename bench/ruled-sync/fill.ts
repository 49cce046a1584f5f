/** Fills a server with a world, by the fastest way that it has: Pannier's import, and SQL into PocketBase's file. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ApiClient } from '../pocketbase/client.ts'
import { filledFolder, SUPERUSER, SUPERUSER_PASSWORD, type Program, type Server } from '../pocketbase/servers.ts'
import { ANNA, COLLECTIONS, emailOf, idOf, membersOf, SETTINGS, SMALL_PROJECTS, USERS, type World } from './world.ts'

/** Nobody logs in with it: sessions are a superuser's gift. */
const HASH = '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'
const ROWS_AT_ONCE = 2000

type Row = Readonly<Record<string, unknown>>

export function fill(program: Program, world: World, data: string): Promise<string> {
  const kind = program.name === 'pocketbase' ? 'pocketbase' : 'pannier'
  return filledFolder(program, join(data, `sync-${kind}-${world.documents}`), async (server) => {
    const client = await superuser(server)
    await client.ask({ method: 'PATCH', path: '/api/settings', body: SETTINGS })
    await client.ask({ method: 'PUT', path: '/api/collections/import', body: { collections: COLLECTIONS } })
    const started = performance.now()
    if (kind === 'pannier') await importAll(client, world)
    else insertAll(join(server.dir, 'data.db'), world)
    console.log(`${program.name}: ${world.tasks} tasks in ${((performance.now() - started) / 1000).toFixed(1)} s`)
    client.close()
  })
}

/** A client with a superuser's session. */
export async function superuser({ url }: Server): Promise<ApiClient> {
  const client = new ApiClient(url)
  client.token = await client.logIn(SUPERUSER, SUPERUSER_PASSWORD)
  return client
}

/** A token of a user, from a superuser. */
export async function tokenOf(client: ApiClient, user: number): Promise<string> {
  const path = `/api/collections/users/impersonate/${idOf('user', user)}`
  const { token } = await client.ask({ method: 'POST', path, body: { duration: 3600 } })
  return token as string
}

async function importAll(client: ApiClient, world: World): Promise<void> {
  for (const [collection, rows] of rowsOf(world))
    for (const some of chunks(rows)) {
      const { refused } = await client.ask({
        method: 'POST',
        path: `/api/imports/${collection}/rows`,
        body: { rows: some },
      })
      if ((refused as unknown[]).length > 0) throw new Error(JSON.stringify(refused).slice(0, 300))
    }
}

function insertAll(file: string, world: World): void {
  const database = new DatabaseSync(file)
  for (const [collection, rows] of rowsOf(world)) {
    database.exec('BEGIN')
    let insert: ReturnType<DatabaseSync['prepare']> | undefined
    for (const row of rows) {
      const names = Object.keys(row)
      insert ??= database.prepare(`INSERT INTO ${collection} (${names.join()}) VALUES (${names.map(() => '?').join()})`)
      insert.run(...names.map((name) => sqlValue(row[name])))
    }
    database.exec('COMMIT')
  }
  database.exec('ANALYZE')
  database.close()
}

function sqlValue(value: unknown): string | number {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' ? JSON.stringify(value) : (value as string | number)
}

function rowsOf(world: World): readonly (readonly [collection: string, rows: Iterable<Row>])[] {
  return [
    ['users', each(ANNA + 1, userRow)],
    ['projects', each(SMALL_PROJECTS + 1, (at) => ({ id: idOf('proj', at), name: `p${at}`, members: membersOf(at) }))],
    ['tasks', each(world.tasks, (at) => world.task(at))],
  ]
}

function userRow(at: number): Row {
  const name = at === USERS ? 'Anna' : `user ${at}`
  const created = '2026-11-28 00:00:00.000Z'
  return {
    id: idOf('user', at),
    email: emailOf(at),
    emailVisibility: false,
    verified: true,
    password: HASH,
    tokenKey: `key of ${idOf('user', at)}`.padEnd(50, 'x'),
    name,
    avatar: '',
    created,
    updated: created,
  }
}

function* each(count: number, make: (at: number) => Row): Generator<Row> {
  for (let at = 0; at < count; at++) yield make(at)
}

function* chunks(rows: Iterable<Row>): Generator<Row[]> {
  let some: Row[] = []
  for (const row of rows) {
    some.push(row)
    if (some.length < ROWS_AT_ONCE) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}
