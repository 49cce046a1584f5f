/**
 * Caches the page's own files, so that it opens without the server. Takes the newest files whenever the server answers.
 */

/** The used part of a service worker's scope; the compiler knows only pages. */
interface Scope {
  addEventListener(type: 'install' | 'activate' | 'fetch', listener: (event: WorkerEvent) => void): void
  skipWaiting(): Promise<void>
  readonly clients: { claim(): Promise<void> }
}

interface WorkerEvent {
  readonly request: Request
  waitUntil(work: Promise<unknown>): void
  respondWith(response: Promise<Response>): void
}

const FILES = ['./', 'main.js', 'style.css', 'favicon.svg']
const CACHE = 'page'
const scope = globalThis as unknown as Scope

scope.addEventListener('install', (event) =>
  event.waitUntil(Promise.all([caches.open(CACHE).then((cache) => cache.addAll(FILES)), scope.skipWaiting()])),
)
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()))
scope.addEventListener('fetch', (event) => {
  const { request } = event
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname.startsWith('/_app/')) event.respondWith(fresh(event))
})

async function fresh(event: WorkerEvent): Promise<Response> {
  const { request } = event
  const cache = await caches.open(CACHE)
  try {
    const response = await fetch(request)
    // Not waited for: a copy is read as fast as the page reads.
    if (response.ok) event.waitUntil(cache.put(request, response.clone()))
    return response
  } catch (error) {
    // The server says that answers vary by what is accepted; these files do not.
    const kept = await cache.match(request, { ignoreSearch: true, ignoreVary: true })
    if (kept === undefined) throw error
    return kept
  }
}
