/**
 * Serves pages on localhost. `/NAME` is an empty page that runs the bundle of an entry, and `/NAME.js` is that bundle
 * (also for workers). `/opfs-worker.js` is the worker that the library starts beside any bundle. `/report` takes what
 * the page posts. Every answer isolates the page from other origins, so that it may use precise clocks and shared
 * memory.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createReadStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { bundle } from './bundle.ts'
import { freePort } from '../processes.ts'
import { CONTROL_HEADER, CONTROL_SCRIPT } from './remote-control.ts'

export interface PageServerOptions {
  /** Entries by name. */
  readonly entries: Readonly<Record<string, string>>
  /** Further files by name, e.g. data to load. */
  readonly files?: Readonly<Record<string, string>>
  /** Stored data belongs to an origin, so to a port. Default: one that no page has had. */
  readonly port?: number
  /** Takes what pages post, in the order posted. */
  readonly onReport?: (report: unknown) => void
}

export interface PageServer extends AsyncDisposable {
  readonly baseUrl: string
  readonly port: number
  close(): Promise<void>
}

export async function servePages(options: PageServerOptions): Promise<PageServer> {
  const port = options.port ?? (await freePort())
  const server = createServer((request, response) => {
    respond(request, response, options).catch((error: unknown) => {
      response.writeHead(500, HEADERS).end(String(error))
      options.onReport?.({ type: 'failed', error: { message: String(error) } })
    })
  })
  // A connection that is closed at the moment when it is used again would take a report with it.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, 'localhost', resolve)
  })
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { baseUrl: `http://localhost:${port}`, port, close, [Symbol.asyncDispose]: close }
}

const HEADERS = {
  [CONTROL_HEADER]: 'yes',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
}

/** Scripts that the library loads by their place beside its own. */
const LIBRARY_ENTRIES: Readonly<Record<string, string>> = {
  'opfs-worker': resolve(import.meta.dirname, '../../packages/db/src/storage/opfs/opfs-worker.ts'),
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { entries, files = {}, onReport }: PageServerOptions,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1)
  const send = (type: string, body: string): void =>
    void response.writeHead(200, { ...HEADERS, 'content-type': type }).end(body)
  if (path === 'report' && request.method === 'POST') {
    const report: unknown = JSON.parse(await readBody(request))
    send('text/plain', '')
    onReport?.(report)
    return
  }
  const script = /^(.+)\.js$/.exec(path)?.[1]
  const entry = script === undefined ? undefined : (entries[script] ?? LIBRARY_ENTRIES[script])
  if (script !== undefined && entry !== undefined) {
    return send('text/javascript', await bundle(entry))
  }
  if (entries[path] !== undefined) return send('text/html', htmlOf(path))
  const file = files[path]
  if (file !== undefined && existsSync(file)) {
    response.writeHead(200, { ...HEADERS, 'content-type': 'application/octet-stream' })
    createReadStream(file).pipe(response)
    return
  }
  response.writeHead(404, HEADERS).end()
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  request.setEncoding('utf8')
  for await (const chunk of request) body += chunk as string
  return body
}

/** Failures that no code of the page catches are reported too: a page must never be waited for in vain. */
function htmlOf(name: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>${name}</title>
<script>
const report = (error) => fetch('/report', {
  method: 'POST',
  body: JSON.stringify({ type: 'failed', error: { message: String(error && error.message || error), stack: error && error.stack } }),
})
addEventListener('error', (event) => report(event.error || event.message))
addEventListener('unhandledrejection', (event) => report(event.reason))
</script>
<script type="module">${CONTROL_SCRIPT}</script>
<script type="module" src="/${name}.js" onerror="report('the bundle of ${name} did not load')"></script>
`
}
