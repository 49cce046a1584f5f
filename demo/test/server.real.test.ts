/** The server serves only the page and the cities, and only to visitors of this machine. */
import { request } from 'node:http'
import { open } from 'pannier'
import type { Database } from 'pannier'
import { memory } from 'pannier/memory'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAllCities } from '../node/all-cities.ts'
import { bundlePage } from '../node/bundle.ts'
import { loadCities } from '../node/load.ts'
import { serve } from '../node/server.ts'
import type { CityServer } from '../node/server.ts'
import { COLLECTION } from '../shared/city.ts'
import type { City } from '../shared/city.ts'

const DOCUMENTS = 50

let db: Database
let server: CityServer

beforeAll(async () => {
  db = await open('served', { storage: memory() })
  await loadCities(db, readAllCities(DOCUMENTS))
  server = await serve({ database: db, assets: await bundlePage(), port: 0 })
})

afterAll(async () => {
  await server.close()
  await db.close()
})

test('serves the page isolated and without inline scripts', async () => {
  const response = await fetch(server.pageUrl)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
  expect(response.headers.get('cross-origin-embedder-policy')).toBe('require-corp')
  expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<[^>]+ (style|on\w+)=/)
  for (const [name, type] of [
    ['main.js', 'text/javascript'],
    ['style.css', 'text/css'],
    ['favicon.svg', 'image/svg+xml'],
  ]) {
    expect((await fetch(server.pageUrl + name)).headers.get('content-type')).toContain(type)
  }
})

test('a person who opens the server comes to the page, a program to what CouchDB says', async () => {
  expect((await fetch(server.url, { headers: { accept: 'text/html,*/*' } })).url).toBe(server.pageUrl)
  expect(await (await fetch(server.url)).json()).toMatchObject({ couchdb: 'Welcome' })
})

test('the cities are a public database, and nothing else is', async () => {
  expect(await json('/cities')).toMatchObject({ db_name: 'cities', doc_count: DOCUMENTS })
  expect(await json('/cities/1796236')).toMatchObject({ name: 'Shanghai' })
  const { id, rev } = (await json('/cities', { name: 'Atlantis' })) as { id: string; rev: string }
  expect(await json(`/cities/${id}`)).toMatchObject({ _rev: rev, name: 'Atlantis' })
  expect((await fetch(`${server.url}/cities/${id}?rev=${rev}`, { method: 'DELETE' })).status).toBe(200)
  for (const path of ['/_all_dbs', '/_users', '/$demo/cities', '/$server', '/meta']) {
    expect(await status(path), path).not.toBe(200)
  }
  expect((await fetch(`${server.url}/other`, { method: 'PUT' })).status).toBe(401)
  expect((await fetch(`${server.url}/cities`, { method: 'DELETE' })).status).toBe(401)
})

test('pages of other origins may change nothing', async () => {
  const headers = { 'content-type': 'application/json', origin: 'https://example.org' }
  expect((await fetch(`${server.url}/cities`, { method: 'POST', headers, body: '{}' })).status).toBe(403)
})

test('replicates to another database', async () => {
  await using other = await open('other', { storage: memory() })
  const cities = other.collection<City>(COLLECTION)
  expect(await cities.sync(`${server.url}/cities`)).toMatchObject({ ok: true })
  expect(await cities.find().count()).toBe(DOCUMENTS)
})

test('refuses everything else', async () => {
  for (const path of ['/_app/main.ts', '/_app/../package.json', '/_app/%2e%2e/package.json']) {
    expect([401, 404], path).toContain(await status(path))
  }
  for (const path of ['/', '/_app/', '/cities', '/cities/1796236']) {
    expect(await status(path, 'example.org')).toBe(403)
  }
})

/** The answer; of a POST, if there is something to send. */
async function json(path: string, body?: object): Promise<Record<string, unknown>> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return (await (await fetch(server.url + path, body === undefined ? {} : post)).json()) as Record<string, unknown>
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
