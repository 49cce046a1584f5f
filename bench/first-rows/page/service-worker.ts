/** Keeps all files of the app, loaded ahead, and answers from them. */

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}

interface FetchEvent extends Event {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}

/** The files of the app, which build.ts puts here: addresses relative to this script. */
declare const FILES: readonly string[]

const CACHE = 'app'

addEventListener('install', (event) => {
  const load = async (): Promise<void> => (await caches.open(CACHE)).addAll(FILES)
  ;(event as ExtendableEvent).waitUntil(load())
})

addEventListener('fetch', (event) => {
  const { request, respondWith } = event as FetchEvent
  respondWith.call(event, answer(request))
})

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE)
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request)
}
