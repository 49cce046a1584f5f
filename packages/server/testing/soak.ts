/**
 * 1,000 open change feeds while documents are written: `npm run -s node packages/server/testing/soak.ts [MINUTES]`, 15 when left out. Half of
 * the feeds are continuous, half are event sources, over ten databases. Prints the server's memory after a garbage collection as it runs,
 * whether it grows, and whether each feed got each write.
 */
import { get } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN as authorization } from '../test/test-server.ts'
import { startProcess } from './processes.ts'
import type { ServerProcess } from './processes.ts'

const FEEDS = 1000
const DATABASES = 10
const DOCUMENTS = 20
const WRITES_PER_SECOND = 20
const SAMPLE_MS = 10_000
const MEBIBYTE = 1024 * 1024

const ROW = '"changes":'

class Feed {
  rows = 0
  #rest = ''
  readonly opened: Promise<void>
  readonly #request: ReturnType<typeof get>

  constructor(url: string, at: number) {
    const form = Math.floor(at / DATABASES) % 2 === 0 ? 'continuous' : 'eventsource'
    const feedUrl = `${url}/soak${at % DATABASES}/_changes?feed=${form}&since=now&heartbeat=10000`
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    this.#request = get(feedUrl, { headers: { authorization }, agent: false }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        resolve()
        const parts = (this.#rest + text).split(ROW)
        this.rows += parts.length - 1
        // A piece may end in the midst of one.
        this.#rest = parts.at(-1)!.slice(1 - ROW.length)
      })
      response.on('error', () => {})
    })
    this.#request.on('error', reject)
  }

  close(): void {
    this.#request.destroy()
  }
}

/** How many writes each database has had. */
async function writeAndWatch(server: ServerProcess, durationMs: number): Promise<number[]> {
  const written = new Array<number>(DATABASES).fill(0)
  const revs = new Map<string, string>()
  const samples: { rss: number; heap: number }[] = []
  const start = performance.now()
  let sampled = start
  for (let n = 0; performance.now() - start < durationMs; n++) {
    const path = `/soak${n % DATABASES}/d${Math.floor(n / DATABASES) % DOCUMENTS}`
    const { rev } = (await send(server, 'PUT', path, { n, _rev: revs.get(path) })) as { rev: string }
    revs.set(path, rev)
    written[n % DATABASES]!++
    if (performance.now() - sampled >= SAMPLE_MS) {
      sampled = performance.now()
      const { rss, heapUsed, external } = await server.memory()
      samples.push({ rss: rss / MEBIBYTE, heap: (heapUsed + external) / MEBIBYTE })
      const { rss: mib, heap } = samples.at(-1)!
      console.log(
        `${((sampled - start) / 1000).toFixed(0).padStart(4)} s  resident ${mib.toFixed(1)} MiB  heap ${heap.toFixed(1)} MiB`,
      )
    }
    const dueMs = start + (n * 1000) / WRITES_PER_SECOND - performance.now()
    if (dueMs > 0) await sleep(dueMs)
  }
  const third = Math.max(1, Math.floor(samples.length / 3))
  for (const what of ['rss', 'heap'] as const) {
    const [second, last] = [samples.slice(third, 2 * third), samples.slice(-third)].map((some) =>
      mean(some.map((one) => one[what])),
    )
    console.log(
      `${what}: ${second!.toFixed(1)} MiB in the second third, ${last!.toFixed(1)} in the last (${((last! / second! - 1) * 100).toFixed(1)}%)`,
    )
  }
  return written
}

async function send({ url }: ServerProcess, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

const minutes = Number(process.argv[2] ?? 15)
const dir = await mkdtemp(join(tmpdir(), 'pannier-soak-'))
const server = await startProcess('pannier-process.ts', [dir])
try {
  for (let at = 0; at < DATABASES; at++) {
    await send(server, 'PUT', `/soak${at}`)
    await send(server, 'PUT', `/soak${at}/_revs_limit`, 20)
  }
  const feeds = Array.from({ length: FEEDS }, (_, at) => new Feed(server.url, at))
  await Promise.all(feeds.map((feed) => feed.opened))
  const written = await writeAndWatch(server, minutes * 60_000)
  await sleep(2000)
  const late = feeds.filter((feed, at) => feed.rows < written[at % DATABASES]!)
  console.log(
    `${feeds.length} feeds, ${sum(written)} writes, ${sum(feeds.map(({ rows }) => rows))} rows; feeds that lack some: ${late.length}`,
  )
  for (const feed of feeds) feed.close()
  if (late.length > 0) process.exitCode = 1
} finally {
  await server.close()
  await rm(dir, { recursive: true, force: true })
}
