/** Pebble, the ACME server that Let's Encrypt makes for tests: a service that is real, with names that are not. */
import type { TestContext } from 'vitest'
import { notRun } from './not-run.ts'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../processes.ts'

const VERSION = 'v2.10.1'
const BUILT = join(tmpdir(), `pannier-pebble-${VERSION}`)
const START_MS_MAX = 120_000

/** The program that PEBBLE names, or one that Go makes in seconds. Undefined if there is neither, or no network. */
function findPebble(): string | undefined {
  const named = process.env['PEBBLE']
  if (named !== undefined) return named
  const program = join(BUILT, 'pebble')
  if (existsSync(program)) return program
  const install = ['install', `github.com/letsencrypt/pebble/v2/cmd/pebble@${VERSION}`]
  return spawnSync('go', install, { env: { ...process.env, GOBIN: BUILT } }).status === 0 ? program : undefined
}

/** A case without it is not run. */
export function needPebble(context: TestContext): string {
  return findPebble() ?? notRun(context, `Pebble ${VERSION} (PEBBLE names the program, or Go builds it)`)
}

export interface PebbleOptions {
  readonly program: string
  /** The certificate of its own HTTPS, for localhost, and the key. */
  readonly certificate: { readonly key: string; readonly chain: string }
  /** Where it looks for the proof of a name. */
  readonly httpPort: number
  /** How long a certificate is valid. */
  readonly seconds: number
}

/** All names that end in `example.org` are 127.0.0.1 for it. It knows no other. */
export class Pebble implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #dns: Server
  readonly #folder: string
  readonly #root: () => Promise<string>
  readonly directoryUrl: string
  /** The certificate of its own HTTPS, for NODE_EXTRA_CA_CERTS. */
  readonly caFile: string

  static async start({ program, certificate, httpPort, seconds }: PebbleOptions): Promise<Pebble> {
    const folder = mkdtempSync(join(tmpdir(), 'pannier-pebble-'))
    const path = (name: string): string => join(folder, name)
    writeFileSync(path('cert.pem'), certificate.chain)
    writeFileSync(path('key.pem'), certificate.key)
    const [port, managementPort] = [await freePort(), await freePort()]
    const pebble = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${managementPort}`,
      certificate: path('cert.pem'),
      privateKey: path('key.pem'),
      httpPort,
      tlsPort: 1,
      retryAfter: { authz: 1, order: 1 },
      keyAlgorithm: 'ecdsa',
      profiles: { default: { description: 'as the test wants it', validityPeriod: seconds } },
    }
    writeFileSync(path('config.json'), JSON.stringify({ pebble }))
    const dns = await nameServer()
    const { port: dnsPort } = dns.address() as AddressInfo
    const child = spawn(program, ['-config', path('config.json'), '-dnsserver', `127.0.0.1:${dnsPort}`], {
      env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' },
      stdio: 'ignore',
    })
    const root = (): Promise<string> => get(managementPort, '/roots/0', certificate.chain)
    const started = new Pebble(child, dns, folder, root, port)
    try {
      const late = AbortSignal.timeout(START_MS_MAX)
      while (!(await root().then(Boolean, () => false))) await sleep(50, undefined, { signal: late })
      return started
    } catch (error) {
      await started[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(child: ChildProcess, dns: Server, folder: string, root: () => Promise<string>, port: number) {
    this.#process = child
    this.#dns = dns
    this.#folder = folder
    this.#root = root
    this.directoryUrl = `https://localhost:${port}/dir`
    this.caFile = join(folder, 'cert.pem')
  }

  /** The certificate that vouches for those that it gives. */
  root(): Promise<string> {
    return this.#root()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#dns.close()
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const closed = once(this.#process, 'close')
      this.#process.kill()
      await closed
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function get(port: number, path: string, ca: string): Promise<string> {
  const asked = request({ host: '127.0.0.1', servername: 'localhost', port, path, ca }).end()
  const [answer] = (await once(asked, 'response')) as [AsyncIterable<Uint8Array>]
  return await text(answer)
}

const TYPE_A = 1
const NAME_AT = 14

/** Answers one question a connection, by DNS over TCP (RFC 1035). */
async function nameServer(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', (message: Buffer) => socket.end(answerTo(message)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function answerTo(message: Buffer): Buffer {
  const labels: string[] = []
  let at = NAME_AT
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const question = message.subarray(NAME_AT, at + 5)
  const isKnown = labels.join('.').toLowerCase().endsWith('example.org')
  const hasAddress = isKnown && message.readUInt16BE(at + 1) === TYPE_A
  const head = Buffer.from([0, 0, 0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, hasAddress ? 1 : 0, 0, 0, 0, 0])
  message.copy(head, 0, 2, 4)
  // The name of the question, A, IN, one second, four bytes of address.
  const record = hasAddress ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1] : []
  const answer = Buffer.concat([head, question, Buffer.from(record)])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(answer.length)
  return Buffer.concat([length, answer])
}
