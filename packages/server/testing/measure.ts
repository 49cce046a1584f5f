/**
 * The speed of the server beside express-pouchdb: `npm run -s node packages/server/testing/measure.ts [pull] [put] [TURNS]`. Both servers
 * are processes of their own and have the same data. Turns alternate. The output is medians and their ratios.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { PouchDB } from './pouch.js'
import { seededRandom } from '../../db/testing/random.ts'
import { ADMIN as authorization, ADMIN_NAME, ADMIN_PASSWORD } from '../test/test-server.ts'
import { LeanClient } from './lean-client.ts'
import { startProcess } from './processes.ts'
import type { ServerProcess } from './processes.ts'

const DOCUMENTS = 10_000
const CONNECTIONS = 64
const PUT_MS = 4000
const PUT_WARM_UP_MS = 1500

/** Of PUTs: each writes documents of its own. */
let runs = 0

interface Servers {
  readonly pannier: ServerProcess
  /** In memory. */
  readonly pouch: ServerProcess
  /** In files, by LevelDB, which is its default. */
  readonly pouchInFiles: ServerProcess
}

const words = process.argv.slice(2)
const turns = Number(words.find((word) => /^\d+$/.test(word)) ?? 3)
const wanted = words.filter((word) => !/^\d+$/.test(word))
const dir = await mkdtemp(join(tmpdir(), 'pannier-measure-'))
const processes = [
  await startProcess('pannier-process.ts', [join(dir, 'pannier')]),
  await startProcess('pouchdb-process.ts'),
  await startProcess('pouchdb-process.ts', [await mkdtemp(join(dir, 'pouchdb-'))]),
] as const
try {
  const [pannier, pouch, pouchInFiles] = processes
  const servers = { pannier, pouch, pouchInFiles }
  if (wanted.length === 0 || wanted.includes('pull')) await measurePull(servers)
  if (wanted.length === 0 || wanted.includes('put')) await measurePuts(servers)
} finally {
  for (const one of processes) await one.close()
  await rm(dir, { recursive: true, force: true })
}

/** The first replication of a database. */
async function measurePull(servers: Servers): Promise<void> {
  const { pannier, pouch } = servers
  for (const { url } of [pannier, pouch]) await fill(`${url}/people`)
  const canned = await startProcess('canned-process.ts', [pannier.url])
  await pullByPouch(canned, {})
  await inTurns(`pull of ${DOCUMENTS} documents, ms`, {
    'Pannier <- Pannier, snapshot': () => pullByPannier(pannier, true),
    'Pannier <- Pannier, feed': () => pullByPannier(pannier, false),
    'Pannier <- express-pouchdb': () => pullByPannier(pouch, false),
    'PouchDB <- a server that takes no time': () => pullByPouch(canned, {}),
    'PouchDB <- Pannier': () => pullByPouch(pannier, {}),
    'PouchDB <- Pannier, batches of 1000': () => pullByPouch(pannier, { batch_size: 1000 }),
    'PouchDB <- express-pouchdb, batches of 1000': () => pullByPouch(pouch, { batch_size: 1000 }),
    'PouchDB <- express-pouchdb': () => pullByPouch(pouch, {}),
  })
  await canned.close()
}

async function pullByPannier(server: ServerProcess, snapshot: boolean): Promise<number> {
  const db = await open('measure', { storage: memory() })
  const source = withAdmin(`${server.url}/people`)
  const { ms } = await timed(server, async () => {
    await db.collection('people').replicate({ from: source, snapshot, checkpoint: 'target' })
    return 1
  })
  check((await db.collection('people').info()).documents)
  await db.close()
  return ms
}

async function pullByPouch(server: ServerProcess, options: object): Promise<number> {
  const local = new PouchDB('measure', { adapter: 'memory' })
  const source = new PouchDB(withAdmin(`${server.url}/people`))
  const { ms } = await timed(server, async () => {
    await local.replicate.from(source, { checkpoint: 'target', ...options })
    return 1
  })
  check((await local.allDocs({})).total_rows)
  await local.destroy()
  return ms
}

function withAdmin(url: string): string {
  return url.replace('//', `//${ADMIN_NAME}:${ADMIN_PASSWORD}@`)
}

function check(documents: number): void {
  if (documents !== DOCUMENTS) throw new Error(`${documents} of ${DOCUMENTS} documents have come`)
}

/** New documents, one a request, as many as can be answered. */
async function measurePuts({ pannier, pouch, pouchInFiles }: Servers): Promise<void> {
  for (const { url } of [pannier, pouch, pouchInFiles])
    await fetch(`${url}/puts`, { method: 'PUT', headers: { authorization } })
  await inTurns(
    `PUTs a second, ${CONNECTIONS} connections`,
    {
      Pannier: () => putsPerSecond(pannier),
      'express-pouchdb, LevelDB': () => putsPerSecond(pouchInFiles),
      'express-pouchdb, in memory': () => putsPerSecond(pouch),
    },
    { isRate: true },
  )
}

async function putsPerSecond(server: ServerProcess): Promise<number> {
  const run = ++runs
  const random = seededRandom(1)
  let count = 0
  let ended = false
  const clients = Array.from({ length: CONNECTIONS }, async (_, client) => {
    const connection = new LeanClient(server.url)
    for (let n = 0; !ended; n++) {
      const body = JSON.stringify(person(n, random.next()))
      const status = await connection.put(`/puts/${run}-${client}-${n}`, authorization, body)
      if (status !== 201) throw new Error(`answered ${status}`)
      count++
    }
    connection.close()
  })
  await wait(PUT_WARM_UP_MS)
  const { ms, things } = await timed(server, async () => {
    const before = count
    await wait(PUT_MS)
    return count - before
  })
  ended = true
  await Promise.all(clients)
  return (things * 1000) / ms
}

/** Also tells how much of the processor each side has used, which depends less on what else runs. `run` gives how many things were done. */
async function timed(
  { cpuMs }: ServerProcess,
  run: () => Promise<number>,
): Promise<{ readonly ms: number; readonly things: number }> {
  const [serverMs, ownMs, start] = [await cpuMs(), ownCpuMs(), performance.now()]
  const things = await run()
  const ms = performance.now() - start
  const own = (ownCpuMs() - ownMs) / things
  const server = ((await cpuMs()) - serverMs) / things
  console.log(
    `  ${(ms / things).toFixed(3)} ms each; of the processor: server ${server.toFixed(3)}, client ${own.toFixed(3)}`,
  )
  return { ms, things }
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function fill(url: string): Promise<void> {
  await fetch(url, { method: 'PUT', headers: { authorization } })
  const random = seededRandom(7)
  for (let at = 0; at < DOCUMENTS; at += 1000) {
    const docs = Array.from({ length: 1000 }, (_, n) => ({
      _id:
        Math.floor(random.next() * 2 ** 48)
          .toString(16)
          .padStart(12, '0') + String(at + n),
      ...person(at + n, random.next()),
    }))
    const headers = { 'content-type': 'application/json', authorization }
    const answer = await fetch(`${url}/_bulk_docs`, { method: 'POST', headers, body: JSON.stringify({ docs }) })
    await answer.text()
  }
}

function person(n: number, chance: number): object {
  return {
    type: 'person',
    name: `Person ${n}`,
    email: `person.${n}@example.org`,
    age: 18 + Math.floor(chance * 70),
    city: ['Oslo', 'Lima', 'Accra', 'Hanoi'][n % 4],
    score: chance * 1000,
    active: n % 3 === 0,
    tags: [`tag-${n % 10}`, `tag-${n % 7}`],
    address: { street: `Street ${n % 997}`, number: n % 200, zip: String(10_000 + (n % 90_000)) },
    note: 'All work and no play makes a dull document, so this one has a sentence in it.',
  }
}

/** Runs each in turn, `turns` times, and prints medians, the least and the most, and how many times as fast as the last one each is. */
async function inTurns(
  title: string,
  contenders: Readonly<Record<string, () => Promise<number>>>,
  { isRate = false }: { readonly isRate?: boolean } = {},
): Promise<void> {
  const figures = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]))
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, run] of Object.entries(contenders)) figures.get(name)!.push(await run())
  }
  console.log(`\n${title} (${turns} turns)`)
  const last = median([...figures.values()].at(-1)!)
  for (const [name, values] of figures) {
    const own = median(values)
    const range = `${Math.min(...values).toFixed(0)}-${Math.max(...values).toFixed(0)}`
    const times = isRate ? own / last : last / own
    console.log(`  ${name.padEnd(46)} ${own.toFixed(0).padStart(7)}  (${range})`.padEnd(76) + `${times.toFixed(2)}x`)
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
