/**
 * Serves the pages of all apps from one origin. An address is /DELIVERY/APP/FILE: what it says of caching depends on the delivery. Pages
 * post to /report what they found, and get an order in return. /start waits and goes to the address after its '?'.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { LOOPBACK, namesLoopback } from '../../tools/web/loopback.ts'
import type { Pages } from './build.ts'
import type { Order, Report } from './page/protocol.ts'

/**
 * How the files of the app come to the page. 'network': no file is kept, as after a new version. 'cache': the browser's own cache
 * keeps all but the page itself. 'service-worker': it has loaded all files ahead.
 */
export const DELIVERIES = ['network', 'cache', 'service-worker'] as const
export type Delivery = (typeof DELIVERIES)[number]

export interface Traffic {
  readonly requests: number
  /** The bytes of bodies, as they are sent. */
  readonly bytes: number
}

export interface PageServer extends AsyncDisposable {
  readonly url: string
  /** Answers the next report. */
  onReport: (report: Report) => Order
  /** The traffic to pages since the last call, reports left out. */
  takeTraffic(): Traffic
}

/** The page gets a precise clock. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
}
const START = `<!doctype html><title>Start</title><script type="module">
setTimeout(() => location.replace(decodeURIComponent(location.search.slice(1))), 700)
</script>`
/** Vite puts a hash into the names of all files but the page. */
const UNCHANGING = /-[\w-]{8}\.\w+$/

export async function servePages(pages: Pages): Promise<PageServer> {
  let traffic: Traffic = { requests: 0, bytes: 0 }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', `http://${LOOPBACK}`)
    const send = (status: number, type: string, body: string | Uint8Array, headers: object = {}): void =>
      void response.writeHead(status, { 'content-type': type, ...headers }).end(body)
    if (!namesLoopback(request.headers.host)) return send(403, 'text/plain', 'Unknown host.')
    if (pathname === '/start') return send(200, 'text/html', START, { 'cache-control': 'no-store' })
    if (pathname === '/report') {
      const report = JSON.parse(await text(request)) as Report
      return send(200, 'text/plain', served.onReport(report), ISOLATED)
    }
    const [, delivery = '', app = '', ...rest] = pathname.split('/')
    const name = rest.join('/')
    const file = pages.get(app)?.get(name)
    if (file === undefined) return send(404, 'text/plain', 'There is nothing here.', ISOLATED)
    traffic = { requests: traffic.requests + 1, bytes: traffic.bytes + file.body.byteLength }
    const kept = UNCHANGING.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache'
    const caching = { 'cache-control': delivery === 'network' ? 'no-store' : kept }
    send(200, file.type, file.body, { ...ISOLATED, ...caching, 'content-encoding': 'gzip' })
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, 'localhost', resolve)
  })
  const served: PageServer = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    onReport: () => '',
    takeTraffic() {
      const taken = traffic
      traffic = { requests: 0, bytes: 0 }
      return taken
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return served
}
