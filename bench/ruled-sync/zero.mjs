/**
 * Zero: PostgreSQL, zero-cache and one client in memory, with the rule as the query that the server gives the account. It is no
 * dependency: parameters are a folder in which `npm install @rocicorp/zero@1.9.0` ran, the URL of an empty PostgreSQL database with
 * `wal_level = logical`, and documents in thousands. It prints a line of JSON.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ANNA, BIG_PROJECT, idOf, membersOf, SMALL_PROJECTS, World } from './world.ts'

const [folder, postgresUrl, documents] = process.argv.slice(2)
const { resolve } = createRequire(join(folder, 'package.json'))
const load = (name) => import(pathToFileURL(resolve(name)).href)
const zero = await load('@rocicorp/zero')
const { handleQueryRequest } = await load('@rocicorp/zero/server')
const { default: connect } = await load('postgres')

// zero-cache takes the next ones, too.
const CACHE_PORT = 24848
const QUERY_PORT = 24899
const ROWS_AT_ONCE = 2000
const UPDATES = 20
const world = new World(Number(documents))
const anna = idOf('user', ANNA)
const { table, string, boolean, relationships, createSchema, createBuilder, defineQueries, defineQuery, mustGetQuery } =
  zero
const projects = table('projects').columns({ id: string(), name: string() }).primaryKey('id')
const members = table('members').columns({ project: string(), account: string() }).primaryKey('project', 'account')
const tasks = table('tasks')
  .columns({ id: string(), title: string(), description: string(), done: boolean(), project: string() })
  .primaryKey('id')
const schema = createSchema({
  tables: [projects, members, tasks],
  relationships: [
    relationships(tasks, ({ many }) => ({
      members: many({ sourceField: ['project'], destField: ['project'], destSchema: members }),
    })),
  ],
})
const builder = createBuilder(schema)
const queries = defineQueries({
  visible: defineQuery(({ ctx }) => builder.tasks.whereExists('members', (of) => of.where('account', ctx.account))),
})

const sql = connect(postgresUrl, { onnotice: () => {} })
await fill()
const scratch = mkdtempSync(join(tmpdir(), 'pannier-sync-zero-'))
const api = createServer((request, response) => void answerQuery(request, response)).listen(QUERY_PORT, '127.0.0.1')
const started = performance.now()
const cache = startCache()
try {
  await answers()
  const replicatedMs = performance.now() - started
  await sync() // Code that never ran does not count.
  const before = processorMs()
  const first = await sync()
  const firstProcessorMs = processorMs() - before
  const live = await watch()
  console.log(JSON.stringify({ replicatedMs, ...first, firstProcessorMs, memory: memory(), ...live }))
} finally {
  process.kill(-Number(cache.pid), 'SIGTERM')
  await new Promise((done) => cache.once('exit', done))
  api.close()
  await sql.end()
  rmSync(scratch, { recursive: true, force: true })
}
process.exit()

async function fill() {
  await sql.unsafe(`
    CREATE TABLE projects (id text PRIMARY KEY, name text NOT NULL);
    CREATE TABLE members (project text NOT NULL, account text NOT NULL, PRIMARY KEY (project, account));
    CREATE INDEX ON members (account);
    CREATE TABLE tasks (id text PRIMARY KEY, title text NOT NULL, description text NOT NULL, done boolean NOT NULL, project text NOT NULL);
    CREATE INDEX ON tasks (project);`)
  const all = Array.from({ length: SMALL_PROJECTS + 1 }, (_, at) => at)
  await sql`INSERT INTO projects ${sql(all.map((at) => ({ id: idOf('proj', at), name: `p${at}` })))}`
  const links = all.flatMap((at) => membersOf(at).map((account) => ({ project: idOf('proj', at), account })))
  for (let at = 0; at < links.length; at += ROWS_AT_ONCE)
    await sql`INSERT INTO members ${sql(links.slice(at, at + ROWS_AT_ONCE))}`
  for (let at = 0; at < world.tasks; at += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, world.tasks - at)
    await sql`INSERT INTO tasks ${sql(Array.from({ length: count }, (_, nth) => world.task(at + nth)))}`
  }
}

/** The account is Anna: whom a token names is not what is measured. */
async function answerQuery(request, response) {
  const parts = []
  for await (const part of request) parts.push(part)
  const asked = new Request(`http://127.0.0.1${request.url}`, { method: 'POST', body: Buffer.concat(parts) })
  const handler = (name, args) => mustGetQuery(queries, name).fn({ args, ctx: { account: anna } })
  const answer = await handleQueryRequest({ handler, schema, request: asked, userID: anna })
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
}

function startCache() {
  const env = {
    ...process.env,
    ZERO_UPSTREAM_DB: postgresUrl,
    ZERO_REPLICA_FILE: join(scratch, 'replica.db'),
    ZERO_PORT: String(CACHE_PORT),
    ZERO_QUERY_URL: `http://127.0.0.1:${QUERY_PORT}/query`,
    ZERO_NUM_SYNC_WORKERS: '1',
    ZERO_LOG_LEVEL: 'error',
    ZERO_ADMIN_PASSWORD: 'bench',
    NODE_ENV: 'development',
  }
  const file = join(folder, 'node_modules/.bin/zero-cache')
  return spawn(process.execPath, [file], { env, detached: true, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function answers() {
  for (const until = performance.now() + 300_000; performance.now() < until;) {
    const response = await fetch(`http://127.0.0.1:${CACHE_PORT}/`).catch(() => undefined)
    if (response?.ok) return
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error('zero-cache does not answer.')
}

function newClient() {
  return new zero.Zero({
    cacheURL: `http://127.0.0.1:${CACHE_PORT}`,
    userID: anna,
    storageKey: String(performance.now()),
    context: { account: anna },
    schema,
    kvStore: 'mem',
    logLevel: 'error',
  })
}

async function sync() {
  const client = newClient()
  const from = performance.now()
  const rows = await client.run(queries.visible(), { type: 'complete' })
  const allMs = performance.now() - from
  if (rows.length !== world.visibleToAnna)
    throw new Error(`${world.visibleToAnna} records were to come, got ${rows.length}.`)
  await client.close()
  return { rows: rows.length, allMs }
}

/** How soon a client has a commit, and how soon it has forgotten the tasks of a project. */
async function watch() {
  const client = newClient()
  const view = client.materialize(queries.visible())
  let look = () => {}
  view.addListener((rows) => look(rows))
  const until = (isSo) =>
    new Promise((done) => {
      look = (rows) => isSo(rows) && done(performance.now())
      look(view.data)
    })
  await until((rows) => rows.length === world.visibleToAnna)
  const times = []
  const id = idOf('task', world.documents)
  for (let at = 0; at < UPDATES; at++) {
    const title = `changed ${at}`
    const from = performance.now()
    await sql`UPDATE tasks SET title = ${title} WHERE id = ${id}`
    times.push((await until((rows) => rows.some((row) => row.title === title))) - from)
  }
  const from = performance.now()
  await sql`DELETE FROM members WHERE project = ${idOf('proj', BIG_PROJECT)}`
  const revokingMs = performance.now() - from
  const revokedMs = (await until((rows) => rows.length === world.visibleToAnna - world.bigTasks)) - from
  await client.close()
  return { heardMs: times.sort((a, b) => a - b)[UPDATES / 2], revokingMs, revokedMs }
}

/** The cache and its workers. */
function group() {
  const parents = new Map()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      parents.set(pid, statOf(pid)[1])
    } catch {
      // It has ended meanwhile.
    }
  }
  const found = [String(cache.pid)]
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child)
  return found
}

/** From the state on. */
function statOf(pid) {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
}

function processorMs() {
  const ticks = group().flatMap((pid) => statOf(pid).slice(11, 13))
  return ticks.reduce((sum, one) => sum + Number(one), 0) * 10
}

function memory() {
  return group().reduce(
    (sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024,
    0,
  )
}
