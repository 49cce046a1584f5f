/** Goal: the service worker opens the page of one version while the server is away, and is never in the way of another version. */
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { buildAdminPage, type BuiltAdminPage } from '../../../tools/web/admin-page.ts'

const SCOPE = 'http://example.org/_/'

let built: BuiltAdminPage
let script: string
let caches: Map<string, Map<string, string>>
let answer: (url: string) => Promise<Response>
let isClaimed: boolean
let isNext: boolean
let listeners: Map<string, (event: unknown) => void>

beforeAll(async () => {
  built = await buildAdminPage()
  script = gunzipSync(built.files.get('service-worker.js')!).toString()
})
beforeEach(() => {
  caches = new Map()
  isClaimed = false
  isNext = false
  answer = (url) => Promise.resolve(new Response(`server ${url}`))
  listeners = start()
})

/** Runs the worker in a browser that has only what it uses. */
function start(): typeof listeners {
  const heard: typeof listeners = new Map()
  const urlOf = (request: Request | string): string => (typeof request === 'string' ? request : request.url)
  const scope = {
    registration: { scope: SCOPE },
    clients: { claim: () => Promise.resolve(void (isClaimed = true)) },
    skipWaiting: () => Promise.resolve(void (isNext = true)),
    addEventListener: (type: string, listener: (event: unknown) => void) => heard.set(type, listener),
  }
  const storage = {
    open: (name: string) => {
      const cache = caches.get(name) ?? new Map<string, string>()
      return Promise.resolve({
        addAll: async (requests: readonly Request[]) => {
          const texts = await Promise.all(
            requests.map(async ({ url }) => [url, await (await answer(url)).text()] as const),
          )
          caches.set(name, new Map([...cache, ...texts]))
        },
      })
    },
    keys: () => Promise.resolve([...caches.keys()]),
    delete: (name: string) => Promise.resolve(caches.delete(name)),
    match: (request: Request | string, { cacheName }: { cacheName?: string } = {}) => {
      const searched = cacheName === undefined ? [...caches.values()] : [caches.get(cacheName)]
      const text = searched.map((cache) => cache?.get(urlOf(request))).find((found) => found !== undefined)
      return Promise.resolve(text === undefined ? undefined : new Response(text))
    },
  }
  const fetch = (request: Request | string): Promise<Response> => answer(urlOf(request))
  class AnyRequest {
    readonly url: string
    constructor(url: string) {
      this.url = url
    }
  }
  runInNewContext(script, { ...scope, caches: storage, fetch, Request: AnyRequest, Response, URL, AbortSignal })
  return heard
}

async function lasts(type: 'install' | 'activate'): Promise<void> {
  let work: Promise<unknown> = Promise.resolve()
  listeners.get(type)!({ waitUntil: (given: Promise<unknown>) => (work = given) })
  await work
}

/** Undefined: the worker leaves it to the browser. */
async function asked(url: string, mode: 'navigate' | 'cors' = 'cors'): Promise<string | undefined> {
  let response: Promise<Response> | undefined
  const request = { method: 'GET', mode, url }
  listeners.get('fetch')!({ request, respondWith: (given: Promise<Response>) => (response = given) })
  return (await response)?.text()
}

const AWAY = (): Promise<Response> => Promise.reject(new TypeError('away'))

test('while the server answers, the page is the server’s', async () => {
  await lasts('install')
  await lasts('activate')
  expect([isNext, isClaimed, await asked(SCOPE, 'navigate')]).toEqual([true, true, `server ${SCOPE}`])
  answer = () => Promise.resolve(new Response('the next version'))
  expect(await asked(SCOPE, 'navigate')).toBe('the next version')
})

test.each([
  ['does not answer', AWAY],
  ['is behind a proxy that says so', () => Promise.resolve(new Response('no', { status: 502 }))],
])('a server that %s is away: the page and all of its files come from the device', async (_, away) => {
  await lasts('install')
  answer = away
  expect(await asked(`${SCOPE}#/records/tasks`, 'navigate')).toBe(`server ${SCOPE}`)
  for (const name of built.files.keys())
    if (name !== 'index.html' && name !== 'service-worker.js')
      expect(await asked(SCOPE + name)).toBe(`server ${SCOPE}${name}`)
})

test('a version that could not be kept whole is not kept', async () => {
  answer = (url) => (url.endsWith('.css') ? AWAY() : Promise.resolve(new Response(url)))
  await expect(lasts('install')).rejects.toThrow('away')
  expect([caches.size, isNext]).toEqual([0, false])
})

test('tabs of the version before find its files; versions before that go', async () => {
  caches.set('pannier-admin-older', new Map())
  caches.set(
    'pannier-admin-old',
    new Map([
      [`${SCOPE}main-OLD00000.js`, 'old'],
      [`${SCOPE}favicon.svg`, 'old'],
    ]),
  )
  caches.set('of-an-app', new Map())
  await lasts('install')
  await lasts('activate')
  expect([...caches.keys()].filter((name) => /old|app/.test(name))).toEqual(['pannier-admin-old', 'of-an-app'])
  answer = AWAY
  expect(await asked(`${SCOPE}main-OLD00000.js`)).toBe('old')
  expect(await asked(`${SCOPE}favicon.svg`)).toBe(`server ${SCOPE}favicon.svg`)
  expect(await asked(SCOPE, 'navigate')).toBe(`server ${SCOPE}`)
})

test('a file that no kept version has comes from the server', async () => {
  await lasts('install')
  expect(await asked(`${SCOPE}main-OTHER000.js`)).toBe(`server ${SCOPE}main-OTHER000.js`)
})

test.each([
  'http://example.org/api/collections/tasks/records',
  'http://example.org/app-ABCD1234.js',
  'http://example.org/',
])('%s is left to the browser', async (url) => {
  await lasts('install')
  expect(await asked(url)).toBeUndefined()
})

test('the page asks for no file that the worker does not keep', async () => {
  const html = gunzipSync(built.files.get('index.html')!).toString()
  const names = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(2)
  for (const name of names) expect(script).toContain(JSON.stringify(name))
})
