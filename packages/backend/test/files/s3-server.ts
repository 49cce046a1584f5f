/** A server that speaks S3, with one bucket. s3rver does not check signatures of version 4; this one does. */
import { createHash, createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import type { S3Options } from '../../src/files/s3-place.ts'

const BUCKET = 'pannier'
/** The only keys that it knows. */
const KEY = 'S3RVER'

/** Answers a request instead of the server, if it gives true. */
type Fault = (request: IncomingMessage, response: ServerResponse) => boolean

export class S3Server implements AsyncDisposable {
  readonly #folder: string
  readonly #close: () => Promise<void>
  readonly options: S3Options
  /** `PUT /pannier/key` */
  readonly requests: string[] = []
  fault: Fault | undefined

  static async start(): Promise<S3Server> {
    const folder = await mkdtemp(join(tmpdir(), 'pannier-s3-'))
    const store = new S3rver({
      address: '127.0.0.1',
      port: 0,
      directory: folder,
      silent: true,
      configureBuckets: [{ name: BUCKET, configs: [] }],
    })
    await store.configureBuckets()
    const answer = store.callback()
    const server = createServer((request, response) => {
      made.requests.push(`${request.method} ${request.url}`)
      if (made.fault?.(request, response) === true) return
      if (isSigned(request)) answer(request, response)
      else response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code><Message>Wrong.</Message></Error>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const close = async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await store.close().catch(() => undefined)
    }
    const made = new S3Server(port, folder, close)
    return made
  }

  private constructor(port: number, folder: string, close: () => Promise<void>) {
    this.#folder = folder
    this.#close = close
    this.options = {
      bucket: BUCKET,
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      accessKey: KEY,
      secret: KEY,
      forcePathStyle: true,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** As AWS documents it, from the request as it came. */
function isSigned({ method, url, headers }: IncomingMessage): boolean {
  const [, scope = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const { pathname, searchParams } = new URL(url!, 'http://host')
  const path = decodeURIComponent(pathname).split('/').map(encoded).join('/')
  const query = [...searchParams].map((pair) => pair.map(encoded).join('=')).sort()
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).replaceAll(/\s+/g, ' ')}\n`)
  const asked = [method, path, query.join('&'), signed.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const hash = createHash('sha256').update(asked).digest('hex')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((before, part) => hmac(before, part), `AWS4${KEY}`)
  return hmac(key, text).toString('hex') === signature
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function encoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const char = String.fromCharCode(byte)
      return /[A-Za-z0-9\-._~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
