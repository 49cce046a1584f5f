/** Serves the page on the loopback interface, to requests that name it and to nobody else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Asset } from '../../../tools/web/bundle.ts'
import { LOOPBACK, namesLoopback, onFreePort } from '../../../tools/web/loopback.ts'
import { HEADERS } from './headers.ts'

export interface LabServer extends AsyncDisposable {
  readonly url: string
}

/** On the first free port from `port` on; 0: any. */
export async function serveLab(assets: ReadonlyMap<string, Asset>, port: number): Promise<LabServer> {
  const prepared = new Map([...assets].map(([name, asset]) => [name, prepare(asset)]))
  const server = createServer((request, response) => answer(request, response, prepared))
  const found = await onFreePort(port, (candidate) => listen(server, candidate))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://localhost:${found}/`, [Symbol.asyncDispose]: close }
}

function answer(
  { method, url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  assets: ReadonlyMap<string, Prepared>,
): void {
  const refuse = (status: number, text: string): void =>
    void response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  if (!namesLoopback(headers.host)) return refuse(403, 'Unknown host.')
  if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'Only GET and HEAD.')
  const name = (URL.parse(url, `http://${LOOPBACK}`)?.pathname ?? '').slice(1) || 'index.html'
  const asset = assets.get(name)
  if (asset === undefined) return refuse(404, 'There is nothing here.')
  const { type, body, zipped, tag } = asset
  if (headers['if-none-match'] === tag) return void response.writeHead(304, { ...HEADERS, etag: tag }).end()
  const zips = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  const sent = zips ? zipped : body
  response.writeHead(200, {
    ...HEADERS,
    'content-type': type,
    'content-length': sent.byteLength,
    etag: tag,
    vary: 'accept-encoding',
    ...(zips && { 'content-encoding': 'gzip' }),
  })
  response.end(method === 'HEAD' ? undefined : sent)
}

interface Prepared extends Asset {
  readonly zipped: Uint8Array
  readonly tag: string
}

function prepare(asset: Asset): Prepared {
  const hash = createHash('sha256').update(asset.body).digest('base64url')
  return { ...asset, zipped: gzipSync(asset.body), tag: `"${hash}"` }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
