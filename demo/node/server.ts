/**
 * The server of the page: a handful of files from memory and the cities as a stream from the embedded database. It listens
 * on the loopback interface only and answers only requests that name it (a page elsewhere can't reach it by DNS tricks).
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { createGzip, constants } from 'node:zlib'
import type { Collection } from 'pannier'
import type { City } from '../shared/city.ts'
import type { Asset } from './bundle.ts'

export interface CityServer {
  readonly url: string
  /** Ends open connections too. */
  close(): Promise<void>
}

export interface CityServerOptions {
  readonly cities: Collection<City>
  readonly assets: ReadonlyMap<string, Asset>
  readonly source: string
  /** The first port to try; 0 for any. */
  readonly port: number
}

const HOST = '127.0.0.1'
const PORTS_TRIED_MAX = 50
const CHUNK_CHARS = 64 * 1024
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

export async function serve(options: CityServerOptions): Promise<CityServer> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      // A visitor who leaves in the middle of the stream is no failure of ours.
      if (!response.headersSent) response.writeHead(500, HEADERS).end('The server failed.\n')
      else response.destroy(error instanceof Error ? error : undefined)
    })
  })
  const port = await listen(server, options.port)
  return {
    url: `http://localhost:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, options: CityServerOptions): Promise<void> {
  const refuse = (status: number, text: string): void => {
    response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  }
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')) return refuse(403, 'Unknown host.')
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'Only GET and HEAD.')
  const url = URL.parse(request.url ?? '/', `http://${HOST}`)
  if (url?.pathname === '/cities.ndjson') return await streamCities(url, request, response, options)
  const asset = options.assets.get(url?.pathname ?? '')
  if (asset === undefined) return refuse(404, 'There is nothing here.')
  response.writeHead(200, { ...HEADERS, 'content-type': asset.type, 'content-length': asset.body.byteLength })
  response.end(request.method === 'HEAD' ? undefined : asset.body)
}

/** One city a line, ordered by id; `?from=` leaves out as many, so that an interrupted load can go on. */
async function streamCities(
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  { cities, source }: CityServerOptions,
): Promise<void> {
  const from = Math.max(0, Math.trunc(Number(url.searchParams.get('from'))) || 0)
  const gzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  response.writeHead(200, {
    ...HEADERS,
    'content-type': 'application/x-ndjson; charset=utf-8',
    'x-city-count': await cities.find().count(),
    'x-city-source': source,
    vary: 'accept-encoding',
    ...(gzip && request.method !== 'HEAD' ? { 'content-encoding': 'gzip' } : {}),
  })
  if (request.method === 'HEAD') return void response.end()
  const lines = Readable.from(cityLines(cities, from))
  if (gzip) await pipeline(lines, createGzip({ level: constants.Z_BEST_SPEED }), response)
  else await pipeline(lines, response)
}

async function* cityLines(cities: Collection<City>, from: number): AsyncGenerator<Buffer> {
  let chunk = ''
  for await (const { _id, name, foldedName, country, population, lat, lon, featureCode, adminCode } of cities
    .find()
    .sort('_id')
    .skip(from)) {
    chunk += `${JSON.stringify({ _id, name, foldedName, country, population, lat, lon, featureCode, adminCode })}\n`
    if (chunk.length < CHUNK_CHARS) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}

/** The first free port from `port` on. */
async function listen(server: Server, port: number): Promise<number> {
  for (let candidate = port; ; candidate++) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(candidate, HOST, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    } catch (error) {
      server.removeAllListeners('error')
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!taken || candidate + 1 >= port + PORTS_TRIED_MAX || candidate >= 65_535) throw error
    }
  }
}
