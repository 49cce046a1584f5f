/**
 * Goal: whatever comes to `/api` is answered in PocketBase's form, never by 500, and takes no memory for good. Method: random requests to
 * a server in a process of its own. EFFORT=25 sends 10,000, and prints what the process takes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { type Random, seededRandom } from '../../../db/testing/random.ts'
import { randomApp, recordIds } from './differential/random-app.ts'
import { randomRequest } from './differential/random-request.ts'
import { World } from './differential/world.ts'
import { startProcess, type ServerProcess } from '../../testing/processes.ts'
import { call, EMAIL, PASSWORD, startRest, tokenFor } from './rest-server.ts'

const REQUESTS: number = times(400)
const AT_A_TIME = 8
/** Then another application takes the place of what is left of the one before. */
const REQUESTS_OF_APP = 1000
/** Requests until caches and compiled code are as they stay. */
const WARM_UP = 2000
const SAMPLES = 8
const MEBIBYTE: number = 1024 * 1024
/** What the heap may have grown by since then. */
const GROWTH_BYTES_MAX: number = 16 * MEBIBYTE
/** Outside of it: two caches of pages, of 64 MiB each, and what is in use. */
const EXTERNAL_BYTES_MAX: number = 160 * MEBIBYTE

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PATCH', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']
const COLLECTIONS = [
  'posts',
  'users',
  'teams',
  'comments',
  '_superusers',
  '_mfas',
  'nope',
  'POSTS',
  '%00',
  '..',
  'pbc_posts',
  '$records_x',
  '__proto__',
  "a'b",
  '%ff',
]
const IDS = [
  ...recordIds('posts').slice(0, 3),
  'nope',
  '%00',
  '..%2f',
  '__proto__',
  'constructor',
  'a'.repeat(3000),
  '',
  ' ',
  '_design%2fx',
  '%F0%9F%98%80',
  '_local%2fx',
]
const TAILS = [
  'auth-methods',
  'auth-with-password',
  'auth-refresh',
  'truncate',
  'records',
  'impersonate/x',
  'request-otp',
]
const OTHERS = [
  '/api/health',
  '/api/settings',
  '/api/batch',
  '/api/collections',
  '/api/collections/import',
  '/api/collections/meta/scaffolds',
  '/api/collections/meta/dry-run-view',
  '/api/nope',
  '/api',
  '/api/',
  '/api/realtime2',
  '/api/%zz',
]
const KEYS = ['filter', 'sort', 'expand', 'fields', 'page', 'perPage', 'skipTotal', 'token', 'nope', '']
const TEXTS = [
  '',
  'id',
  '-created',
  'title = 1',
  'title ~',
  '((((',
  "'",
  '"',
  '\\',
  '\0',
  '@random',
  '@request.auth.id',
  '@collection.posts.id = 1',
  'title:excerpt(',
  'title:excerpt(-1,x)',
  '*,*:excerpt(5)',
  'author.author.author.author.author.author.author.author',
  'comments_via_post.post.comments_via_post',
  'a'.repeat(4000),
  Array.from({ length: 250 }, () => 'id = "x"').join(' || '),
  '\u{1f600}',
  '1e999',
  '-1',
  '99999999999999999999',
  'NaN',
  'strftime("%Y", created) = "2024"',
  'geoDistance(0, 0, place.lon, place.lat) < 1',
  '/* x */',
  '// comment',
  'related:each ?= title:lower',
  'meta.a.b.c.0.-1 > null',
  '(title = 1',
  'title = 1 && && id = 1',
]
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  'x',
  [],
  [[]],
  {},
  { a: { b: {} } },
  ['x'],
  'a'.repeat(6000),
  '\0',
  '__proto__',
  { __proto__: null, toString: 1 },
  '2024-02-30',
  '[',
  '{"a":',
]
const NAMES = [
  'id',
  'title',
  'views',
  'public',
  'kinds',
  'kinds+',
  '+kinds',
  'kinds-',
  'views+',
  'meta',
  'place',
  'author',
  'related+',
  'password',
  'passwordConfirm',
  'email',
  'tokenKey',
  'verified',
  'identity',
  'requests',
  'collections',
  'deleteMissing',
  'query',
  'name',
  'type',
  'fields',
  'indexes',
  'listRule',
  'viewQuery',
  'passwordAuth',
  'authToken',
  'smtp',
  'batch',
  'meta.appName',
  'constructor',
  '__proto__',
  '_id',
  '_rev',
  '_attachments',
  '@jsonPayload',
  '',
]
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/xml',
  '',
  'a/b/c',
]
const BROKEN = [
  '',
  '{',
  '[]',
  '[1]',
  'null',
  '"x"',
  '{"a":1}x',
  '--x\r\n',
  '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nv\r\n--x--',
  '--x\r\nContent-Disposition: form-data; name="@jsonPayload"\r\n\r\n{\r\n--x--',
  '--x\r\nContent-Disposition: form-data; name="docs"; filename="../a"\r\n\r\nv\r\n--x--\r\n',
  'a=1&b=2&b=3',
  '%zz=%zz',
  '{"__proto__":{"a":1}}',
]

test(`${REQUESTS} requests of any kind have answers in PocketBase's form`, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-fuzz-'))
  await (await startRest({ dir })).close()
  const server = await startProcess('pannier-process.ts', [dir])
  const seed = FIRST_SEED
  const random = seededRandom(seed)
  try {
    const memory = new MemoryCurve(server)
    let tokens: readonly string[] = []
    for (let count = 0; count < REQUESTS; count += AT_A_TIME) {
      if (count % REQUESTS_OF_APP === 0) {
        const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
        await World.load(server.url, token, randomApp(random))
        tokens = [token, token, '', '', 'Bearer x', 'x.y.z', `Bearer ${token}`, token.slice(0, -2)]
      }
      const requests = Array.from({ length: AT_A_TIME }, () => fuzzed(random, tokens))
      const found = await Promise.all(requests.map((request) => complaint(server.url, request)))
      const wrong = found.flatMap((what, at) => (what === undefined ? [] : [{ seed, count, what, ...requests[at] }]))
      expect(wrong).toEqual([])
      await memory.note(count)
    }
    expect((await call(server.url, 'GET /health', undefined, '')).status).toBe(200)
    if (REQUESTS > WARM_UP) console.log(memory.lines.join('\n'))
    expect(memory.growth).toBeLessThan(GROWTH_BYTES_MAX)
    expect(memory.external).toBeLessThan(EXTERNAL_BYTES_MAX)
  } finally {
    await server.close()
    await rm(dir, { recursive: true, force: true })
  }
})

/** What a process takes, after collections of garbage. */
class MemoryCurve {
  readonly #server: ServerProcess
  readonly lines: string[] = []
  /** Bytes of the heap: when it was warm, and at the end. */
  #first: number | undefined
  #last = 0
  /** The most bytes outside of the heap. */
  external = 0

  constructor(server: ServerProcess) {
    this.#server = server
  }

  get growth(): number {
    return this.#first === undefined ? 0 : this.#last - this.#first
  }

  async note(count: number): Promise<void> {
    const step = Math.max(AT_A_TIME, Math.floor((REQUESTS - WARM_UP) / SAMPLES / AT_A_TIME) * AT_A_TIME)
    if (count < WARM_UP || (count - WARM_UP) % step !== 0) return
    const { heapUsed, external, rss } = await this.#server.memory()
    this.#last = heapUsed
    this.#first ??= heapUsed
    this.external = Math.max(this.external, external)
    const mebibytes = [heapUsed, external, rss].map((bytes) => (bytes / MEBIBYTE).toFixed(1).padStart(7))
    this.lines.push(`${String(count).padStart(6)} requests: heap, external, RSS${mebibytes.join()} MiB`)
  }
}

interface Fuzzed {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

function fuzzed(random: Random, tokens: readonly string[]): Fuzzed {
  const authorization = random.pick(tokens)
  if (random.chance(0.2)) {
    const { method, path, body } = randomRequest(random)
    return {
      method,
      path,
      headers: { authorization, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    }
  }
  const method = random.pick(METHODS)
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(method) && random.chance(0.9)
  const isJson = random.chance(0.7)
  return {
    method,
    path: `${pathOf(random)}?${queryOf(random)}`,
    headers: { authorization, ...(hasBody ? { 'content-type': isJson ? TYPES[0]! : random.pick(TYPES) } : {}) },
    body: hasBody
      ? isJson && random.chance(0.9)
        ? JSON.stringify(bodyOf(random, 2))
        : random.pick(BROKEN)
      : undefined,
  }
}

function pathOf(random: Random): string {
  if (random.chance(0.2)) return random.pick(OTHERS)
  const collection = `/api/collections/${random.pick(COLLECTIONS)}`
  if (random.chance(0.15)) return collection
  if (random.chance(0.2)) return `${collection}/${random.pick(TAILS)}`
  return random.chance(0.5) ? `${collection}/records` : `${collection}/records/${random.pick(IDS)}`
}

function queryOf(random: Random): string {
  const query = new URLSearchParams()
  for (let left = random.below(3); left > 0; left--) query.append(random.pick(KEYS), random.pick(TEXTS))
  return random.chance(0.03) ? '%zz=%&&&=' : query.toString()
}

function bodyOf(random: Random, depth: number): unknown {
  if (depth === 0 || random.chance(0.3)) return random.pick(VALUES)
  if (random.chance(0.2)) return Array.from({ length: random.below(4) }, () => bodyOf(random, depth - 1))
  const entries = Array.from({ length: random.below(6) }, () => [random.pick(NAMES), bodyOf(random, depth - 1)])
  return Object.fromEntries(entries) as unknown
}

/** What is wrong with the answer. */
async function complaint(url: string, { method, path, headers, body }: Fuzzed): Promise<string | undefined> {
  const { authorization = '', ...others } = headers
  const sent = authorization === '' ? others : headers
  const response = await fetch(url + path, { method, headers: sent, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  const { status } = response
  if (status >= 500) return `${status} ${text}`
  if (status < 400 || method === 'HEAD') return undefined
  const error = parsed(text)
  const isRight =
    error !== undefined &&
    Object.keys(error).join() === 'data,message,status' &&
    error.status === status &&
    typeof error.message === 'string' &&
    typeof error.data === 'object' &&
    error.data !== null
  return isRight ? undefined : `${status} ${text}`
}

function parsed(text: string): { data: unknown; message: unknown; status: unknown } | undefined {
  try {
    return JSON.parse(text) as { data: unknown; message: unknown; status: unknown }
  } catch {
    return undefined
  }
}
