/**
 * Goal: `pannier serve --https` gets a certificate for its names, keeps it over restarts, and renews it while it runs. When the service
 * is away the old one stays. A refused name is in the log with the service's reason.
 * Method: real processes, and Pebble as the service. It asks for each proof by HTTP.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, expect, test, type TestContext } from 'vitest'
import { freePort, kill } from '../../../../tools/processes.ts'
import { needPebble, Pebble } from '../../../../tools/test/pebble.ts'
import { until } from '../test-server.ts'
import { askSecurely } from './https-client.ts'
import { selfSigned } from './self-signed.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
const DAY_SECONDS = 86_400
const SHORT_SECONDS = 15

let dir: string
let httpPort: number
let port: number
const started: ChildProcess[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-acme-'))
  httpPort = await freePort()
  port = await freePort()
})
afterEach(async () => {
  await Promise.all(started.splice(0).map(kill))
  await rm(dir, { recursive: true, force: true })
})

async function startPebble(context: TestContext, seconds = DAY_SECONDS): Promise<Pebble> {
  const program = needPebble(context)
  return Pebble.start({ program, certificate: await selfSigned(['localhost']), httpPort, seconds })
}

async function serve(
  pebble: Pebble,
  ...names: readonly string[]
): Promise<{ end: () => Promise<number>; err: () => string; out: () => string }> {
  const options = ['--https', ...names, '--acme-email', 'ann@example.org', '--acme-directory', pebble.directoryUrl]
  const at = ['--host', '127.0.0.1', '--port', String(port), '--http-port', String(httpPort), '--log-level', 'info']
  const parameters = ['serve', '--dir', dir, ...options, ...at]
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: pebble.caFile }
  const child = spawn(process.execPath, ['--conditions=pannier-source', MAIN, ...parameters], { env })
  started.push(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  await until(
    () => out.includes('\n') || child.exitCode !== null,
    () => err,
  )
  const end = async (): Promise<number> => {
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    return ((await closed) as [number])[0]
  }
  return { end, err: () => err, out: () => out }
}

test('a server gets a certificate for all its names, keeps it over a restart, and redirects http', async (context) => {
  await using pebble = await startPebble(context)
  const root = await pebble.root()
  const ask = (name: string, path = '/api/health'): ReturnType<typeof askSecurely> =>
    askSecurely(port, name, path, root)
  const first = await serve(pebble, 'example.org', 'WWW.example.org')
  expect(first.out()).toContain(`https://example.org:${port}`)
  expect(first.err()).not.toContain('not encrypted')
  await until(() => first.err().includes('new certificate'), first.err)
  const { status, headers, serial } = await ask('example.org')
  expect({ status, safe: headers['strict-transport-security'] }).toEqual({ status: 200, safe: 'max-age=31536000' })
  expect((await ask('www.example.org')).serial).toBe(serial)
  await expect(ask('other.example.org')).rejects.toThrow("does not match certificate's altnames")

  const moved = { status: 308, location: `https://www.example.org:${port}/notes?a=1` }
  expect(await askPlainly('GET', 'www.example.org:80', '/notes?a=1')).toEqual(moved)
  expect(await askPlainly('POST', 'example.org', '/_session')).toEqual({ status: 400 })
  expect(await askPlainly('GET', 'evil.example', '/')).toEqual({ status: 403 })
  expect(await askPlainly('GET', 'example.org', '/.well-known/acme-challenge/none')).toEqual({ status: 404 })

  for (const entry of await readdir(join(dir, 'acme'), { recursive: true, withFileTypes: true })) {
    const { mode } = await stat(join(entry.parentPath, entry.name))
    expect(mode & 0o077, entry.name).toBe(0)
  }
  expect(await first.end()).toBe(0)
  const second = await serve(pebble, 'example.org', 'www.example.org')
  expect((await ask('example.org')).serial).toBe(serial)
  expect(await second.end()).toBe(0)
  expect(second.err()).not.toContain('new certificate')

  const third = await serve(pebble, 'example.org', 'api.example.org')
  await until(() => third.err().includes('new certificate'), third.err)
  expect((await ask('api.example.org')).serial).not.toBe(serial)
  expect(await third.end()).toBe(0)
})

test('a certificate is renewed while connections stay; without the service the old one stays', async (context) => {
  await using pebble = await startPebble(context, SHORT_SECONDS)
  const root = await pebble.root()
  const server = await serve(pebble, 'example.org')
  const serials = new Set<string>()
  const look = async (): Promise<void> => {
    serials.add((await askSecurely(port, 'example.org', '/api/health', root)).serial)
  }
  await until(() => server.err().includes('new certificate'), server.err)
  await look()
  const old = connect({ host: '127.0.0.1', port, servername: 'example.org', ca: root })
  await once(old, 'secureConnect')
  await until(async () => {
    // A slow machine may look between the end of one and the next one.
    await look().catch(() => {})
    return serials.size > 1
  }, server.err)
  old.write(`GET /api/health HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\n\r\n`)
  let answer = ''
  for await (const piece of old) answer += String(piece)
  expect(answer).toContain('HTTP/1.1 200')

  await pebble[Symbol.asyncDispose]()
  await until(() => server.err().includes('no new certificate'), server.err)
  const last = connect({ host: '127.0.0.1', port, servername: 'example.org', rejectUnauthorized: false })
  await once(last, 'secureConnect')
  expect(last.getPeerCertificate().issuer.CN).toContain('Pebble')
  last.destroy()
  expect(await server.end()).toBe(0)
})

test('a name that leads elsewhere is refused with the reason in the log, and the server runs and ends', async (context) => {
  await using pebble = await startPebble(context)
  const server = await serve(pebble, 'example.org', 'example.net')
  await until(() => server.err().includes('no new certificate'), server.err)
  expect(server.err()).toContain('example.net')
  expect(server.err()).toContain('refuses the order')
  await expect(askSecurely(port, 'example.org', '/api/health', await pebble.root())).rejects.toThrow()
  expect(await server.end()).toBe(0)
})

/** What the port of plain HTTP answers. */
async function askPlainly(
  method: string,
  host: string,
  path: string,
): Promise<{ readonly status: number; readonly location?: string }> {
  const asked = request({ host: '127.0.0.1', port: httpPort, method, path, headers: { host } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  const { location } = answer.headers
  return { status: answer.statusCode!, ...(location !== undefined && { location }) }
}
