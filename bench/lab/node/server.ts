/** Serves the page on the loopback interface, to requests that name it and to nobody else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Asset } from './assets.ts'
import { HEADERS } from './headers.ts'

export interface LabServer extends AsyncDisposable {
  readonly url: string
}

const HOST = '127.0.0.1'
const PORTS_TRIED_MAX = 50

/** On the first free port from `port` on; 0: any. */
export async function serveLab(assets: ReadonlyMap<string, Asset>, port: number): Promise<LabServer> {
  const zipped = new Map([...assets].map(([name, { body }]) => [name, gzipSync(body)]))
  const server = createServer((request, response) => answer(request, response, assets, zipped))
  const found = await listen(server, port)
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
  assets: ReadonlyMap<string, Asset>,
  zipped: ReadonlyMap<string, Uint8Array>,
): void {
  const refuse = (status: number, text: string): void =>
    void response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? '')) return refuse(403, 'Unknown host.')
  if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'Only GET and HEAD.')
  const name = (URL.parse(url, `http://${HOST}`)?.pathname ?? '').slice(1) || 'index.html'
  const asset = assets.get(name)
  if (asset === undefined) return refuse(404, 'There is nothing here.')
  const zips = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  const body = zips ? zipped.get(name)! : asset.body
  response.writeHead(200, {
    ...HEADERS,
    'content-type': asset.type,
    'content-length': body.byteLength,
    vary: 'accept-encoding',
    ...(zips && { 'content-encoding': 'gzip' }),
  })
  response.end(method === 'HEAD' ? undefined : body)
}

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
