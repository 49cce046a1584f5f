/**
 * Goal: a server serves the certificate that is there, whatever happens to its renewal: failures, a broken file, other names, a service
 * that gives nothing useful. A wrong option is named before anything is made.
 * Method: real handshakes with certificates that nobody vouches for. Orders are functions; acme.real.test.ts asks a real service.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer as createHttps, type Server } from 'node:https'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { X509Certificate } from 'node:crypto'
import { pino } from 'pino'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { HttpsOptions } from '../../src/index.ts'
import { AcmeFolder } from '../../src/tls/acme-folder.ts'
import type { Certificate } from '../../src/tls/certificate.ts'
import { RenewedCertificate } from '../../src/tls/renewed-certificate.ts'
import { runCaptured } from '../cli/run-captured.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, startServer, until } from '../test-server.ts'
import { askSecurely } from './https-client.ts'
import { selfSigned } from './self-signed.ts'

const NAMES = ['example.org']
const DIRECTORY = 'https://acme.example.net/directory'
const HOUR_MS = 3_600_000

let clock: VirtualEnvironment
let dir: string
let folder: AcmeFolder
let server: Server
const running: RenewedCertificate[] = []
const logged: string[] = []

beforeEach(async () => {
  clock = virtualEnvironment()
  dir = await mkdtemp(join(tmpdir(), 'pannier-tls-'))
  folder = new AcmeFolder(dir, DIRECTORY)
  server = createHttps({})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.close()
  logged.splice(0)
  server.close()
  await rm(dir, { recursive: true, force: true })
})

async function open(order: () => Promise<Certificate>, names = NAMES): Promise<void> {
  const log = pino({ base: null }, { write: (line: string) => void logged.push(line) })
  const use = ({ key, chain }: Certificate): void => server.setSecureContext({ key, cert: chain })
  const renewed = await RenewedCertificate.open({ environment: clock, names, folder, log, order, use })
  running.push(renewed)
  renewed.start()
}

async function serial(): Promise<string> {
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', servername: 'example.org', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

function serialOf({ chain }: Certificate): string {
  return new X509Certificate(chain).serialNumber
}

/** Valid from now on. */
const fromNow = (names: readonly string[]): Promise<Certificate> => selfSigned(names, { from: clock.wallClock() })

const never = (): Promise<Certificate> => Promise.reject(new Error('nothing was to be ordered'))

test('failed orders are repeated with longer pauses until there is a certificate, which is stored for this account alone', async () => {
  const made = await fromNow(NAMES)
  let orders = 0
  await open(async () => {
    if (++orders < 5) throw new Error(`order ${orders} is refused`)
    return made
  })
  await clock.until(() => logged.some((line) => line.includes('has a new certificate')))
  expect(await serial()).toBe(serialOf(made))
  const pauses = logged.flatMap((line) => (JSON.parse(line) as { retrySeconds?: number }).retrySeconds ?? [])
  expect(pauses).toEqual([60, 120, 240, 480])
  await clock.idle()
  expect(await folder.certificate()).toEqual(made)
  const file = join(dir, 'acme/acme.example.net/certificate.pem')
  expect((await stat(file)).mode & 0o077).toBe(0)
  expect(logged.join('')).not.toContain('PRIVATE KEY')
})

test('a stored certificate is served, and not ordered again before two thirds of its time', async () => {
  const kept = await selfSigned(NAMES, {
    from: clock.wallClock() - 0.6 * HOUR_MS,
    until: clock.wallClock() + 0.4 * HOUR_MS,
  })
  await folder.keep(kept)
  await open(never)
  await clock.advance(0)
  expect(await serial()).toBe(serialOf(kept))
  expect(logged).toEqual([])
})

test('an old certificate, even an expired one, is served until there is another one', async () => {
  for (const restMs of [0.3 * HOUR_MS, -HOUR_MS]) {
    const end = clock.wallClock() + restMs
    const old = await selfSigned(NAMES, { from: end - HOUR_MS, until: end })
    const fresh = await fromNow(NAMES)
    await folder.keep(old)
    let give: (certificate: Certificate) => void = () => {}
    await open(() => new Promise((resolve) => (give = resolve)))
    expect(await serial()).toBe(serialOf(old))
    await clock.advance(0)
    give(fresh)
    await clock.idle()
    expect(await serial()).toBe(serialOf(fresh))
    await running.splice(0)[0]!.close()
  }
})

test('a certificate without one of the names, and one whose file is damaged, are replaced', async () => {
  await folder.keep(await fromNow(NAMES))
  const both = await fromNow([...NAMES, 'www.example.org'])
  await open(async () => both, [...NAMES, 'www.example.org'])
  await clock.advance(0)
  expect(await serial()).toBe(serialOf(both))
  await running.splice(0)[0]!.close()

  const file = join(dir, 'acme/acme.example.net/certificate.pem')
  const [mine, other] = [await readFile(file, 'utf8'), await fromNow(NAMES)]
  for (const damaged of ['', 'no PEM', mine.slice(0, 300), mine.slice(0, -200), other.key + both.chain]) {
    await writeFile(file, damaged)
    const fresh = await fromNow(NAMES)
    await open(async () => fresh)
    await clock.advance(0)
    expect(await serial()).toBe(serialOf(fresh))
    await running.splice(0)[0]!.close()
    expect(logged.splice(0).join(''), damaged).toContain('The stored certificate can not be used')
  }
})

test('a service whose certificates have expired already is not asked without a pause', async () => {
  const past = clock.wallClock() - 2 * HOUR_MS
  let orders = 0
  const log = pino({ level: 'silent' })
  const expired = await selfSigned(NAMES, { from: past - HOUR_MS, until: past })
  const order = async (): Promise<Certificate> => {
    orders++
    return expired
  }
  let used = 0
  const renewed = await RenewedCertificate.open({
    environment: clock,
    names: NAMES,
    folder,
    log,
    order,
    use: () => void used++,
  })
  running.push(renewed)
  renewed.start()
  await clock.advance(59_999)
  expect({ orders, used }).toEqual({ orders: 1, used: 1 })
  expect(await folder.certificate()).toBeDefined()
  await clock.advance(1)
  expect(orders).toBe(2)
})

test('a server with files speaks HTTPS only, makes its cookies secure, and takes changed files', async () => {
  const names = ['db.example.org', 'localhost']
  const [first, second] = [await selfSigned(names), await selfSigned(names)]
  const https = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  const write = async ({ chain, key }: Certificate): Promise<void> => {
    await writeFile(https.cert, chain)
    await writeFile(https.key, key)
  }
  await write(first)
  const started = await startServer({ http: { https, allowedHosts: names } })
  try {
    expect(started.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const { port } = new URL(started.url)
    const ask = (ca: string): ReturnType<typeof askSecurely> => askSecurely(Number(port), names[0]!, '/', ca)
    const { status, headers } = await ask(first.chain)
    // The operator may have other servers of this name, which speak HTTP.
    expect({ status, only: headers['strict-transport-security'] }).toEqual({ status: 200, only: undefined })
    await expect(fetch(started.url.replace('https', 'http'))).rejects.toThrow()
    const admin = { name: ADMIN_NAME, password: ADMIN_PASSWORD }
    const login = await askSecurely(Number(port), names[0]!, '/_session', first.chain, admin)
    expect(login.headers['set-cookie']![0]).toContain('Secure')
    await writeFile(https.cert, 'half of a cert')
    await write(second)
    await until(
      async () =>
        await ask(second.chain).then(
          () => true,
          () => false,
        ),
    )
  } finally {
    await started.close()
  }
})

const WRONG: readonly (readonly [message: string, https: object])[] = [
  ["did you mean 'names'?", { name: ['example.org'] }],
  ['http.https.names must be names of the server', { names: [] }],
  [
    "http.https.names must be names without a port, like 'example.org', got '*.example.org'",
    { names: ['*.example.org'] },
  ],
  ["got '127.0.0.1'", { names: ['127.0.0.1'] }],
  ["got 'localhost'", { names: ['localhost'] }],
  ["got 'example.org:443'", { names: ['example.org:443'] }],
  ["got 'example.org/x'", { names: ['example.org/x'] }],
  ['http.https.email must be an address', { names: ['example.org'], email: 'a@example.org?x=1' }],
  ['http.https.directoryUrl must be an https: URL', { names: ['example.org'], directoryUrl: 'http://example.org' }],
]

test('a wrong option is named, and makes nothing', async () => {
  const made = join(dir, 'data')
  for (const [message, https] of WRONG)
    await expect(createServer({ dir: made, http: { https: https as HttpsOptions } }), message).rejects.toThrow(message)
  expect(existsSync(made)).toBe(false)
  const serve = ['serve', '--dir', made, '--port', '0']
  const noFile = await runCaptured([...serve, '--tls-cert', join(dir, 'none.pem'), '--tls-key', join(dir, 'none.pem')])
  expect(noFile.err).toContain('http.https.cert and http.https.key must be files of a certificate and its key')
  for (const [parameters, message] of [
    [['--tls-cert', 'a.pem'], '--tls-cert and --tls-key need each other.'],
    [['--acme-email', 'a@example.org'], '--acme-email and --acme-directory need --https.'],
    [['--https', 'example.org', '--tls-key', 'a.pem', '--host', '127.0.0.1', '--http-port', '0'], 'Leave --tls-cert'],
  ] as const) {
    const { code, err } = await runCaptured([...serve, ...parameters])
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(message) as string })
  }
})
