/**
 * Puts the script of remote-control.ts into pages that know nothing of it: a server on another port that passes everything
 * on to theirs. A page that already has the script is left where it is.
 */
import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { freePort } from '../processes.ts'
import { CONTROL_HEADER, CONTROL_SCRIPT } from './remote-control.ts'

/** By origin. They live as long as this process: what a browser stored belongs to their ports. */
const proxies = new Map<string, Promise<string>>()

/** A connection that is kept may be closed by the server at the moment when it is used again. */
const agent = new Agent({ keepAlive: false })

/** The address to open in place of `url`. */
export async function controllable(url: string): Promise<string> {
  const { origin, pathname, search, hash } = new URL(url)
  // A server with a proxy may be away by now.
  let proxy = proxies.get(origin)
  if (proxy === undefined) {
    const response = await fetch(url)
    await response.body?.cancel()
    if (response.headers.has(CONTROL_HEADER)) return url
    proxies.set(origin, (proxy = startProxy(origin)))
  }
  return `${await proxy}${pathname}${search}${hash}`
}

async function startProxy(origin: string): Promise<string> {
  const server = createServer((request, response) => {
    // What the page sends is as if it came from the server's own page.
    if (request.headers.origin === `http://${request.headers.host}`) request.headers.origin = origin
    passOn(request, response, origin)
  })
  server.keepAliveTimeout = 0
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
  server.unref()
  return `http://localhost:${port}`
}

function passOn(request: IncomingMessage, response: ServerResponse, origin: string): void {
  const headers = { ...request.headers, host: new URL(origin).host, 'accept-encoding': 'identity' }
  const options = { agent, method: request.method ?? 'GET', headers }
  const onward = forward(`${origin}${request.url ?? '/'}`, options, (answer) => {
    const isPage = (answer.headers['content-type'] ?? '').startsWith('text/html')
    const answerHeaders = { ...answer.headers }
    if (!isPage) {
      response.writeHead(answer.statusCode ?? 502, answerHeaders)
      // A server that ends in the midst of an answer ends it for the page, too.
      pipeline(answer, response, () => {})
      return
    }
    // The script is not among those that the page's own policy allows.
    delete answerHeaders['content-security-policy']
    delete answerHeaders['content-length']
    // Some servers compress what was asked for as it is.
    const body = answerHeaders['content-encoding'] === 'gzip' ? answer.pipe(createGunzip()) : answer
    delete answerHeaders['content-encoding']
    response.writeHead(answer.statusCode ?? 502, answerHeaders)
    body.setEncoding('utf8')
    let page = ''
    body.on('data', (text: string) => (page += text))
    const script = `<script type="module">${CONTROL_SCRIPT}</script>`
    answer.on('error', () => response.destroy())
    body.on('error', () => response.destroy())
    body.on('end', () => response.end(page.replace(/^(\s*<!doctype html>)?/i, (start) => `${start}${script}`)))
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}
