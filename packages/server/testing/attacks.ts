/**
 * What an attacker can do to others: `npm run -s node packages/server/testing/attacks.ts [SECONDS] [NAME...]`. A server with a heap of 512 MB meets
 * one attack after the other, each for that long (8 s when left out). Meanwhile somebody else asks for `GET /` and writes to another database. The output is
 * how long these took, and the most that the server's heap and process took. Names are parts of those of the attacks.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { ADMIN as authorization, send } from '../test/test-server.ts'
import type { ProberData, Probes } from './prober.ts'
import { startProcess } from './processes.ts'

const HEAP_MEGABYTES = 512
const MEBIBYTE = 1024 * 1024
const OTHERS = 'elsewhere'
const LARGE_DOCUMENTS = 40
const TEXTS = 10_000
const CONFLICTS = 5000
const ATTACHMENT_BYTES: number = 150 * MEBIBYTE

/** Ends when the signal is aborted, or before. */
type Attack = (signal: AbortSignal) => Promise<unknown>

const words = process.argv.slice(2)
const seconds = Number(words.find((word) => /^\d+$/.test(word)) ?? 8)
const wanted = words.filter((word) => !/^\d+$/.test(word))
const dir = await mkdtemp(join(tmpdir(), 'pannier-attacks-'))
const server = await startProcess('pannier-process.ts', [dir], { heapMegabytes: HEAP_MEGABYTES })
try {
  await prepare()
  console.log(
    `${'ms'.padEnd(58)}GET / p50   p99    max | write p50   p99    max | probes, failed | peak heap, RSS in MiB`,
  )
  await meet('nothing', () => sleep(seconds * 1000))
  for (const [name, attack] of Object.entries(attacks()))
    if (wanted.length === 0 || wanted.some((part) => name.includes(part))) await meet(name, attack)
} finally {
  await server.close()
  await rm(dir, { recursive: true, force: true })
}

async function meet(name: string, attack: Attack): Promise<void> {
  await server.peak()
  const prober = new Worker(new URL('prober.ts', import.meta.url), {
    workerData: {
      url: server.url,
      database: OTHERS,
      prefix: encodeURIComponent(name),
      authorization,
    } satisfies ProberData,
  })
  await once(prober, 'message')
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), seconds * 1000)
  await attack(ending.signal).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
  clearTimeout(timer)
  prober.postMessage('stop')
  const [probes] = (await once(prober, 'message')) as [Probes]
  const { heapUsed, rss } = await server.peak()
  const { reads, writes, failures } = probes
  const told = [...new Set(failures)].join('; ')
  console.log(
    `${name.padEnd(58)}${figures(reads)} |${figures(writes)} | ${reads.length + writes.length}, ${failures.length}` +
      ` | ${Math.round(heapUsed / MEBIBYTE)}, ${Math.round(rss / MEBIBYTE)}${told === '' ? '' : ` (${told})`}`,
  )
  // What it leaves behind is not the next one's.
  await sleep(1000)
}

function figures(times: readonly number[]): string {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  return [at(0.5), at(0.99), at(1)].map((ms) => ms.toFixed(ms < 10 ? 1 : 0).padStart(7)).join('')
}

function attacks(): Record<string, Attack> {
  const keys = { keys: Array.from({ length: 1000 }, (_, at) => `d${at % LARGE_DOCUMENTS}`) }
  const repeated = { docs: Array.from({ length: 256 }, () => ({ id: 'd0' })) }
  const regex = { selector: { s: { $regex: '(a?){300}a{300}b' } }, limit: 1 }
  const content = 'include_docs=true&attachments=true'
  const files = { docs: Array.from({ length: 4 }, (_, at) => ({ id: `f${at}` })) }
  return {
    'C1: _bulk_get of 256 x 6 MB, 2 readers': (signal) => again(2, signal, 'POST /fat/_bulk_get', repeated),
    'C1: the same, 20 that read nothing': (signal) => unread(20, signal, 'POST /fat/_bulk_get', repeated),
    'C1: _all_docs of 1,000 x 6 MB, 2 readers': (signal) =>
      again(2, signal, 'POST /fat/_all_docs?include_docs=true', keys),
    'C1: _changes with documents of 6 MB, 2 readers': (signal) =>
      again(2, signal, 'GET /fat/_changes?include_docs=true'),
    'H2: _find by a dear expression, 4 at a time': (signal) => again(4, signal, 'POST /texts/_find', regex),
    'H3: a reduce of 0.8 s a group, 3 at a time': (signal) =>
      again(3, signal, 'GET /box/_design/slow/_view/v?group=true'),
    'M2: 3,000 polls of 3 addresses, heartbeat=100': (signal) =>
      unread(3000, signal, 'GET /texts/_changes?feed=longpoll&since=now&heartbeat=100'),
    'M2: 500 first batches that nobody reads': (signal) =>
      unread(500, signal, 'GET /texts/_changes?feed=eventsource&include_docs=true'),
    'M4: 6 filters that never end': (signal) => again(6, signal, 'GET /box/_changes?filter=loop/f'),
    'body: 8 MB of []': (signal) => again(2, signal, 'PUT /big/lists', `{"a":[${lists()}]}`),
    'body: 100,000 empty documents': (signal) =>
      again(2, signal, 'POST /big/_bulk_docs', `{"docs":[${'{},'.repeat(99_999)}{}]}`),
    'body: 199,000 equal keys': (signal) =>
      again(2, signal, 'POST /fat/_all_docs', `{"keys":[${'"none",'.repeat(198_999)}"none"]}`),
    'body: 60 that come by half, of 8 MB': (signal) => halves(60, signal),
    '5,000 conflicts, open_revs=all&revs=true, 2 readers': (signal) =>
      again(2, signal, 'GET /conflicts/one?open_revs=all&revs=true'),
    'attachments of 150 MiB, _all_docs, 2 readers': (signal) => again(2, signal, `GET /files/_all_docs?${content}`),
    'attachments of 150 MiB, _changes, 2 readers': (signal) => again(2, signal, `GET /files/_changes?${content}`),
    'attachments of 150 MiB, _bulk_get, 2 readers': (signal) =>
      again(2, signal, 'POST /files/_bulk_get?attachments=true', files),
    'attachments of 150 MiB, a view, 2 readers': (signal) =>
      again(2, signal, `GET /files/_design/all/_view/v?${content}`),
  }
}

function lists(): string {
  return Array.from({ length: 40 }, () => `[${'[],'.repeat(65_000)}[]]`).join(',')
}

/** `clients` that each ask again as soon as they have read the answer. They keep nothing of it. */
async function again(clients: number, signal: AbortSignal, request: string, body?: unknown): Promise<void> {
  const [method = '', path = ''] = request.split(' ')
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const client = async (): Promise<void> => {
    while (!signal.aborted) {
      const answer = await fetch(server.url + path, {
        method,
        signal,
        headers: { authorization, 'content-type': 'application/json' },
        ...(text !== undefined && { body: text }),
      })
      for await (const piece of answer.body!) void piece
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** `count` connections that ask once and read nothing; a thousand of each address. */
async function unread(count: number, signal: AbortSignal, request: string, body?: unknown): Promise<void> {
  const [method = '', path = ''] = request.split(' ')
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`
  await hold(count, signal, head + text, (socket) => void socket.pause())
}

/** The first half of a body, and then nothing. */
async function halves(count: number, signal: AbortSignal): Promise<void> {
  const bytes = 8 * 1000 * 1000
  const head = `POST /big/_all_docs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`
  await hold(count, signal, `${head}{"keys":["${'x'.repeat(bytes - 100)}`, (socket) => void socket.resume())
}

async function hold(
  count: number,
  signal: AbortSignal,
  bytes: string,
  connected: (socket: Socket) => void,
): Promise<void> {
  const port = Number(new URL(server.url).port)
  const sockets = Array.from({ length: count }, (_, at) => {
    const localAddress = `127.0.0.${2 + Math.floor(at / 1000)}`
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    socket.write(bytes)
    connected(socket)
    return socket
  })
  await once(signal, 'abort')
  for (const socket of sockets) socket.destroy()
}

async function prepare(): Promise<void> {
  const names = ['fat', 'texts', 'box', 'big', 'conflicts', 'files', OTHERS]
  for (const name of names) {
    await ask(`PUT /${name}`)
    // Anyone who reaches the server may read them.
    await ask(`PUT /${name}/_security`, { admins: {}, members: {} })
  }
  const large = { s: Array.from({ length: 30_000 }, (_, at) => String(at).padEnd(200, 'x')) }
  for (let at = 0; at < LARGE_DOCUMENTS; at++) await ask(`PUT /fat/d${at}`, large)
  const docs = Array.from({ length: TEXTS }, (_, at) => ({ _id: String(at), s: 'a'.repeat(400) }))
  await ask('POST /texts/_bulk_docs', { docs })
  await ask('POST /box/_bulk_docs', { docs: Array.from({ length: 12 }, (_, i) => ({ _id: String(i), i })) })
  const reduce = 'function () { var end = Date.now() + 800; while (Date.now() < end); return 1 }'
  await ask('PUT /box/_design/slow', { views: { v: { map: 'function (d) { emit(d.i, 1) }', reduce } } })
  await ask('GET /box/_design/slow/_view/v?reduce=false')
  await ask('PUT /box/_design/loop', { filters: { f: 'function () { for (;;); }' } })
  // Writes of others go through a function, too.
  await ask(`PUT /${OTHERS}/_design/guard`, { validate_doc_update: 'function (doc) { if (doc.b) throw doc.b }' })
  const branches = Array.from({ length: CONFLICTS }, (_, at) => ({ _id: 'one', _rev: `1-${at.toString(16)}`, at }))
  await ask('POST /conflicts/_bulk_docs', { docs: branches, new_edits: false })
  const bytes = new Uint8Array(ATTACHMENT_BYTES)
  for (let at = 0; at < 4; at++) {
    bytes[0] = at
    await ask(`PUT /files/f${at}/content`, bytes)
  }
  await ask('PUT /files/_design/all', { views: { v: { map: 'function (d) { emit(d._id, null) }' } } })
  await ask('GET /files/_design/all/_view/v')
}

async function ask(request: string, body?: unknown): Promise<void> {
  const { status, text } = await send(server.url, request, body)
  if (status >= 300) throw new Error(`${request}: ${status} ${text.slice(0, 200)}`)
}
