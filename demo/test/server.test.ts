/** The server gives out its few files and the cities, and nothing else, to nobody else. */
import { request } from 'node:http'
import { open } from 'pannier'
import type { Database } from 'pannier'
import { memory } from 'pannier/memory'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAllCities } from '../node/all-cities.ts'
import { bundlePage } from '../node/bundle.ts'
import { serve } from '../node/server.ts'
import type { CityServer } from '../node/server.ts'
import { COLLECTION } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { loadCities } from '../shared/load.ts'

const DOCUMENTS = 50

let db: Database
let server: CityServer

beforeAll(async () => {
  db = await open('served', { storage: memory() })
  await loadCities(db, readAllCities(DOCUMENTS))
  const cities = db.collection<City>(COLLECTION)
  server = await serve({ cities, assets: await bundlePage(), source: 'test', port: 0 })
})

afterAll(async () => {
  await server.close()
  await db.close()
})

test('streams the cities in a fixed order, from any position', async () => {
  const all = await lines('/cities.ndjson')
  expect(all.length).toBe(DOCUMENTS)
  expect(all.map((line) => (JSON.parse(line) as City)._id)).toEqual(
    all.map((line) => (JSON.parse(line) as City)._id).sort(),
  )
  expect(await lines('/cities.ndjson?from=30')).toEqual(all.slice(30))
  expect(await lines('/cities.ndjson?from=nonsense')).toEqual(all)
})

test('says how many there are before it sends any', async () => {
  const { headers } = await fetch(`${server.url}/cities.ndjson`, { method: 'HEAD' })
  expect(headers.get('x-city-count')).toBe(String(DOCUMENTS))
  expect(headers.get('x-city-source')).toBe('test')
})

test('serves the page isolated and without inline scripts', async () => {
  const response = await fetch(server.url)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
  expect(response.headers.get('cross-origin-embedder-policy')).toBe('require-corp')
  expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<[^>]+ (style|on\w+)=/)
  for (const [path, type] of [
    ['/main.js', 'text/javascript'],
    ['/style.css', 'text/css'],
    ['/favicon.svg', 'image/svg+xml'],
  ]) {
    expect((await fetch(server.url + path)).headers.get('content-type')).toContain(type)
  }
})

test('refuses everything else', async () => {
  expect(await status('/main.ts')).toBe(404)
  expect(await status('/../package.json')).toBe(404)
  expect(await status('/%2e%2e/package.json')).toBe(404)
  expect(await status('//', 'localhost')).toBe(404)
  expect(await status('/', 'example.org')).toBe(403)
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(405)
})

async function lines(path: string): Promise<string[]> {
  const text = await (await fetch(server.url + path)).text()
  return text.split('\n').slice(0, -1)
}

/** The path as it is written: `fetch` would tidy it. */
function status(path: string, host = 'localhost'): Promise<number | undefined> {
  const { port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
