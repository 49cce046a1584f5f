/**
 * The cost of many databases to a server that uses few of them: `npm run node -- bench/many-databases/main.ts postgres`, or `sqlite`, or
 * `couchdb` (databases of CouchDB's door, which are collections of one database). Options: `--databases 10000 --used 100 --seconds 10
 * --sweep 1000`.
 */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runInNewContext } from 'node:vm'
import { open, type Database } from 'pannier'
import { createServer, DatabasePool } from '@pannier/server'
import { postgres } from '@pannier/postgres'
import { makeFolder } from '../../tools/processes.ts'
import { PostgresServer } from '../../tools/test/postgres.ts'

const MEBIBYTE = 1024 * 1024
const DOCUMENTS = 20
const TASKS = 16
const CACHE_BYTES = 4 * MEBIBYTE

interface Place {
  open(name: string): Promise<Database>
  statements(): number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    databases: { type: 'string', default: '10000' },
    used: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '10' },
    /** The number of databases that are opened one after another in the sweep at the end. */
    sweep: { type: 'string', default: '1000' },
  },
})
const [kind = 'postgres'] = positionals
const [databases, used] = [Number(values.databases), Number(values.used)]
const [seconds, sweep] = [Number(values.seconds), Number(values.sweep)]

function placeOf(where: string): Place {
  if (kind === 'sqlite')
    return { open: (name) => open(join(where, name), { cacheBytesMax: CACHE_BYTES }), statements: () => 0 }
  const storage = postgres(where)
  return {
    open: (name) => open(name, { storage, cacheBytesMax: CACHE_BYTES }),
    statements: () => storage.counts.statements,
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function memory(): Promise<string> {
  for (let n = 0; n < 3; n++) {
    collectGarbage()
    await sleep(50)
  }
  const { heapUsed, rss } = process.memoryUsage()
  return `heap ${(heapUsed / MEBIBYTE).toFixed(1)} MiB, resident ${(rss / MEBIBYTE).toFixed(0)} MiB`
}

/** Runs `work` for 0 to count - 1, some at a time. */
async function each(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: TASKS }, async () => {
      while (next < count) await work(next++)
    }),
  )
}

const documentsOf = (n: number): { _id: string; n: number; text: string }[] =>
  Array.from({ length: DOCUMENTS }, (_, i) => ({ _id: `d${i}`, n, text: 'x'.repeat(200) }))

/**
 * Fills the first database as any is. The others are copies of its rows, or of its file. The others are copies of its rows, or of its
 * file.
 */
async function fill(where: string, server: PostgresServer | undefined): Promise<void> {
  const db = await placeOf(where).open('tenant 0')
  await db.collection('items').upsert(documentsOf(0))
  await db.flush()
  await db.close()
  if (server === undefined) {
    for (let n = 1; n < databases; n++) copyFileSync(join(where, 'tenant 0'), join(where, `tenant ${n}`))
    return
  }
  const columns: Readonly<Record<string, string>> = {
    fence: 'generation, base, sequence, barrier, epoch, place, started, relation, sealed, log_seal',
    claim: 'token',
    meta: 'bytes, keyring',
    page: 'id, bytes',
    log: 'sequence, bytes, at',
    epoch: 'epoch, start, place',
  }
  const numbers = `generate_series(1, ${databases - 1}) n`
  server.sql('many', `insert into pannier.database select n, 'tenant ' || n from ${numbers}`)
  server.sql(
    'many',
    `insert into pannier.placement (name, place) select 'tenant ' || n, i.id from ${numbers}, pannier.identity i`,
  )
  for (const [table, list] of Object.entries(columns))
    server.sql(
      'many',
      `insert into pannier.${table} (database, ${list}) select n, ${list} from pannier.${table}, ${numbers}
        where database = (select id from pannier.database where name = 'tenant 0')`,
    )
  server.sql('many', 'analyze')
}

async function measurePool(where: string): Promise<void> {
  const place = placeOf(where)
  const pool = new DatabasePool((name) => place.open(name), { openMax: used, idleMsMax: 1e6 })
  console.log(`before: ${await memory()}`)
  const step = async (title: string, work: () => Promise<number>): Promise<void> => {
    const [began, before] = [performance.now(), place.statements()]
    const done = await work()
    const ms = performance.now() - began
    const statements = place.statements() - before
    console.log(
      `${title}: ${done} in ${(ms / 1000).toFixed(1)} s, ${((1000 * done) / ms).toFixed(0)}/s, ` +
        `${(statements / Math.max(1, done)).toFixed(2)} statements each, ${((1000 * statements) / ms).toFixed(1)} statements/s`,
    )
    console.log(`  ${await memory()}, ${pool.counts.open} open`)
  }
  const read = (n: number): Promise<unknown> => pool.use(`tenant ${n}`, (db) => db.collection('items').get('d3'))
  await step(`opening ${used}`, async () => (await each(used, read), used))
  await step(`reading from ${used} that are open`, async () => (await each(20_000, (n) => read(n % used)), 20_000))
  await step(`writing to ${used} that are open`, async () => {
    const write = (n: number): Promise<unknown> =>
      pool.use(`tenant ${n % used}`, (db) => db.collection('items').upsert({ _id: 'w', n }))
    return (await each(2000, write), 2000)
  })
  await step(`idle for ${seconds} s`, async () => (await sleep(1000 * seconds), 0))
  const stride = Math.floor(databases / sweep)
  await step(`one read of each of ${sweep} others`, async () => (await each(sweep, (n) => read(n * stride)), sweep))
  await pool.close()
  console.log(`closed: ${await memory()}`)
}

async function measureDoor(): Promise<void> {
  const options = { dir: makeFolder('many-databases'), logger: false, couchAdmin: 'admin:the-password' } as const
  const headers = {
    authorization: `Basic ${Buffer.from('admin:the-password').toString('base64')}`,
    'content-type': 'application/json',
  }
  let server = await createServer(options)
  let url = await server.listen({ port: 0 })
  const put = async (path: string, content?: object): Promise<void> => {
    const body = content === undefined ? null : JSON.stringify(content)
    const answer = await fetch(url + path, { method: 'PUT', headers, body })
    if (!answer.ok) throw new Error(`PUT ${path} was answered by ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  const step = async (title: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await work()
    console.log(`${title}: ${((performance.now() - began) / 1000).toFixed(1)} s, ${await memory()}`)
  }
  await step('a server without databases', () => sleep(0))
  await step(`${databases} databases are made`, () => each(databases, (n) => put(`/tenant${n}`)))
  await server.close()
  await step('started again', async () => {
    server = await createServer(options)
    url = await server.listen({ port: 0 })
  })
  await step(`a write to each of ${used}`, () => each(used, (n) => put(`/tenant${n}/a`, { n })))
  await step(`a write to each of ${sweep} others`, () => each(sweep, (n) => put(`/tenant${used + n}/a`, { n })))
  await server.close()
}

if (kind === 'couchdb') await measureDoor()
else {
  await using server = kind === 'postgres' ? await PostgresServer.start() : undefined
  const where = server === undefined ? makeFolder('many-databases') : server.make('many')
  await fill(where, server)
  console.log(`${databases} databases of ${DOCUMENTS} documents`)
  await measurePool(where)
}
process.exit()
