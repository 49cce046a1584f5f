/** Goal: the admin page is served whole, compressed or not, runs its own scripts and styles only, and is cached as long as it may be. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { adminPage } from '../src/http/admin-page.ts'

const FILES = new Map([
  ['index.html', gzipSync('<!doctype html><title>Pannier</title>')],
  ['main-ABCD1234.js', gzipSync('let page')],
  ['favicon.svg', gzipSync('<svg/>')],
])

async function ask(url: string, encoding = 'identity') {
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } })
  app.setErrorHandler((error: { status?: number }, _request, reply) => reply.code(error.status ?? 500).send())
  adminPage(app, () => Promise.resolve(FILES))
  const response = await app.inject({ url, headers: { 'accept-encoding': encoding } })
  await app.close()
  return response
}

test('a page that asks for gzip gets it, and another one gets the plain text', async () => {
  const packed = await ask('/_/', 'br, gzip;q=0.8')
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(packed.rawPayload).toString()).toContain('<title>Pannier')
  for (const encoding of ['identity', 'gzip;q=0', 'gzip; q=0.0, br', '']) {
    const plain = await ask('/_/main-ABCD1234.js', encoding)
    expect([plain.headers['content-encoding'], plain.payload]).toEqual([undefined, 'let page'])
  }
  expect(packed.headers.vary).toBe('Accept-Encoding')
})

test('files with a hash in their names are kept for good, and all others are asked for each time', async () => {
  expect((await ask('/_/main-ABCD1234.js')).headers['cache-control']).toBe('public, max-age=31536000, immutable')
  for (const url of ['/_/', '/_/?from=mail', '/_/favicon.svg'])
    expect((await ask(url)).headers['cache-control']).toBe('no-cache')
})

test('the page runs its own scripts and styles only, asks its own server only, and is in no frame', async () => {
  const { headers } = await ask('/_/')
  expect([headers['content-type'], headers['x-frame-options']]).toEqual(['text/html; charset=utf-8', 'DENY'])
  const policy = String(headers['content-security-policy'])
  const wanted = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]
  for (const part of [...wanted, "frame-ancestors 'none'", "base-uri 'none'"]) expect(policy).toContain(part)
  expect(policy).not.toContain('unsafe')
})

test('an address without the slash leads to the one with it, as names in the page are relative', async () => {
  // Also behind a proxy that has taken a part of the path away.
  for (const url of ['/_', '/_?from=mail', '/_/index.html', '/%5F', '/%5F/'])
    for (const part of ['', '/pb']) {
      const location = String((await ask(url)).headers.location)
      const at = `http://host${part}`
      expect([url, new URL(location, at + url).href]).toEqual([url, `${at}/_/`])
    }
})

test('another name is missing', async () => {
  for (const name of ['main.js', 'package.json', '..%2Fadmin.json', '__proto__'])
    expect([name, (await ask(`/_/${name}`)).statusCode]).toEqual([name, 404])
})
