/**
 * Opens the page while the server is away. The build gives it the files of the page (tools/web/admin-page.ts). A version of the page is kept
 * as a whole, and never mixed with another. While the server answers, the page is always the server's: an upgrade can't get stuck. The
 * worker of the next version begins at once. Tabs of the version before still find its files.
 */
declare const FILES: readonly string[]
declare const VERSION: string

/** The scope of a worker. The compiler knows only that of a page. */
interface WorkerScope {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: Lasting) => void): void
  addEventListener(type: 'fetch', listener: (event: Fetched) => void): void
}

interface Lasting {
  waitUntil(work: Promise<unknown>): void
}

interface Fetched {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}

const PREFIX = 'pannier-admin-'
const CACHE = PREFIX + VERSION
const INDEX = ''
/** Names of files with a hash of their content, of any version. */
const HASHED = /-[\dA-Z]{8}\.\w+$/
/** A server that says nothing for so long is away. */
const SILENCE_MS_MAX = 10_000
/** A proxy answers so while the server is away. */
const AWAY: readonly number[] = [502, 503, 504]

const worker = globalThis as unknown as WorkerScope
const files = new Set(FILES.map((name) => urlOf(name)))

worker.addEventListener('install', (event) => event.waitUntil(keepFiles()))
worker.addEventListener('activate', (event) => event.waitUntil(begin()))
worker.addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request
  if (method !== 'GET') return
  const [address = ''] = url.split(/[?#]/, 1)
  if (mode === 'navigate' && address === urlOf(INDEX)) event.respondWith(page(event.request))
  else if (address !== urlOf(INDEX) && isFile(address)) event.respondWith(kept(event.request))
})

/** Stores all files or none: a version has a cache only when it is whole. */
async function keepFiles(): Promise<void> {
  const cache = await caches.open(CACHE)
  await cache.addAll(
    [...files].map((url) => new Request(url, { cache: url === urlOf(INDEX) ? 'no-cache' : 'default' })),
  )
  await worker.skipWaiting()
}

/** All tabs get their files from here. The newest of the other versions stays, for those that were opened with it. */
async function begin(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE)
  for (const name of others.slice(0, -1)) await caches.delete(name)
  await worker.clients.claim()
}

/** The server's, if it answers. Its files have other names if they are others. */
async function page(request: Request): Promise<Response> {
  const answer = await fetch(request, { signal: AbortSignal.timeout(SILENCE_MS_MAX) }).catch(() => undefined)
  if (answer !== undefined && !AWAY.includes(answer.status)) return answer
  return (await caches.match(urlOf(INDEX), { cacheName: CACHE })) ?? answer ?? Response.error()
}

function isFile(address: string): boolean {
  return files.has(address) || (address.startsWith(urlOf(INDEX)) && HASHED.test(address))
}

/** A file whose name has a hash of its content is always the same, in whichever version. */
async function kept(request: Request): Promise<Response> {
  const own = await caches.match(request.url, { cacheName: CACHE })
  return own ?? (await caches.match(request.url)) ?? fetch(request)
}

function urlOf(name: string): string {
  return new URL(name, worker.registration.scope).href
}
