/** `$security`, `$os`, `$filepath`, `$http`: libraries of Go that PocketBase's code has. */
import { spawnSync } from 'node:child_process'
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { UploadedFile } from './files.ts'
import { call } from './link.ts'

type Values = Record<string, unknown>
type Library = Readonly<Record<string, unknown>>

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const GCM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

function hashed(algorithm: string): (text: string) => string {
  return (text) => createHash(algorithm).update(String(text)).digest('hex')
}

function signed(algorithm: string): (text: string, secret: string) => string {
  return (text, secret) => createHmac(algorithm, String(secret)).update(String(text)).digest('hex')
}

function randomText(length: number, alphabet: string = ALPHABET): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

function payloadOf(token: string): Values {
  const [, payload = ''] = token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Values
}

function signature(content: string, key: string): Buffer {
  return createHmac('sha256', key).update(content).digest()
}

function createJWT(payload: Values, key: string, seconds: number): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { ...payload, exp: Math.floor(Date.now() / 1000) + seconds }
  const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${content}.${signature(content, key).toString('base64url')}`
}

function parseJWT(token: string, key: string): Values {
  const at = token.lastIndexOf('.')
  const given = Buffer.from(token.slice(at + 1), 'base64url')
  const right = signature(token.slice(0, at), key)
  const payload = given.length === right.length && timingSafeEqual(given, right) ? payloadOf(token) : undefined
  const { exp = Infinity } = (payload ?? {}) as { readonly exp?: number }
  if (payload === undefined || exp * 1000 < Date.now()) throw new Error('$security.parseJWT(): the token is not valid.')
  return payload
}

function encrypt(text: string, key: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(GCM, key, nonce)
  return Buffer.concat([nonce, cipher.update(String(text)), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

function decrypt(text: string, key: string): string {
  const bytes = Buffer.from(text, 'base64')
  const decipher = createDecipheriv(GCM, key, bytes.subarray(0, NONCE_BYTES)).setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString()
}

export const SECURITY: Library = {
  md5: hashed('md5'),
  sha256: hashed('sha256'),
  sha512: hashed('sha512'),
  hs256: signed('sha256'),
  hs512: signed('sha512'),
  equal: (one: string, other: string): boolean => hashed('sha256')(one) === hashed('sha256')(other),
  randomString: (length: number): string => randomText(length),
  randomStringWithAlphabet: randomText,
  pseudorandomString: (length: number): string => randomText(length),
  pseudorandomStringWithAlphabet: randomText,
  parseUnverifiedJWT: payloadOf,
  parseJWT,
  createJWT,
  encrypt,
  decrypt,
}

function entryOf(entry: fs.Dirent): Values {
  return { name: () => entry.name, isDir: () => entry.isDirectory() }
}

function command(name: string, ...parameters: readonly string[]): Values {
  const made: { dir?: string; env?: readonly string[] } = {}
  const run = (): { readonly stdout: Buffer; readonly stderr: Buffer } => {
    const env = made.env && Object.fromEntries(made.env.map((pair) => pair.split(/=(.*)/s)))
    const { status, stdout, stderr, error } = spawnSync(name, parameters, { cwd: made.dir, env })
    if (error !== undefined || status !== 0) throw error ?? new Error(`exit status ${status}`)
    return { stdout, stderr }
  }
  return Object.assign(made, {
    run: () => void run(),
    output: () => Array.from(run().stdout),
    combinedOutput: () => Array.from(Buffer.concat(Object.values(run()))),
    string: () => [name, ...parameters].join(' '),
  })
}

export const OS: Library = {
  args: process.argv.slice(1),
  cmd: command,
  exec: command,
  exit: (code: number): never => {
    throw new Error(`$os.exit(${code}): code of hooks can't end the server.`)
  },
  getenv: (name: string): string => process.env[String(name)] ?? '',
  getwd: (): string => process.cwd(),
  tempDir: tmpdir,
  // Bytes are a list, as there: code maps them to letters.
  readFile: (file: string): number[] => Array.from(fs.readFileSync(file)),
  writeFile: (file: string, content: string | Uint8Array, mode?: number): void =>
    fs.writeFileSync(file, typeof content === 'string' ? content : Uint8Array.from(content), { mode }),
  readDir: (folder: string): Values[] => fs.readdirSync(folder, { withFileTypes: true }).map(entryOf),
  stat: (file: string): Values => {
    const found = fs.statSync(file)
    return { name: () => path.basename(file), size: () => found.size, isDir: () => found.isDirectory() }
  },
  truncate: (file: string, size: number): void => fs.truncateSync(file, size),
  mkdir: (folder: string, mode?: number): void => fs.mkdirSync(folder, { mode }),
  mkdirAll: (folder: string, mode?: number): void => void fs.mkdirSync(folder, { recursive: true, mode }),
  rename: (from: string, to: string): void => fs.renameSync(from, to),
  remove: (file: string): void => fs.rmSync(file),
  removeAll: (file: string): void => fs.rmSync(file, { recursive: true, force: true }),
}

export const FILEPATH: Library = {
  base: path.basename,
  clean: path.normalize,
  dir: path.dirname,
  ext: path.extname,
  fromSlash: (file: string): string => file.replaceAll('/', path.sep),
  toSlash: (file: string): string => file.replaceAll(path.sep, '/'),
  glob: (pattern: string): string[] => fs.globSync(pattern).sort(),
  isAbs: path.isAbsolute,
  join: path.join,
  match: (pattern: string, name: string): boolean => path.matchesGlob(name, pattern),
  rel: path.relative,
  split: (file: string): [string, string] => {
    const at = file.lastIndexOf('/') + 1
    return [file.slice(0, at), file.slice(at)]
  },
  splitList: (list: string): string[] => list.split(path.delimiter),
}

/** `FormData`, as `$http.send` takes it. */
export class FormBody {
  #entries: [name: string, value: unknown][] = []

  append(name: string, value: unknown): void {
    this.#entries.push([name, value])
  }

  set(name: string, value: unknown): void {
    this.delete(name)
    this.append(name, value)
  }

  delete(name: string): void {
    this.#entries = this.#entries.filter(([one]) => one !== name)
  }

  get(name: string): unknown {
    return this.getAll(name)[0]
  }

  getAll(name: string): unknown[] {
    return this.#entries.flatMap(([one, value]) => (one === name ? [value] : []))
  }

  has(name: string): boolean {
    return this.getAll(name).length > 0
  }

  keys(): string[] {
    return this.#entries.map(([name]) => name)
  }

  values(): unknown[] {
    return this.#entries.map(([, value]) => value)
  }

  entries(): [string, unknown][] {
    return [...this.#entries]
  }
}

interface HttpConfig {
  readonly url: string
  readonly method?: string
  readonly data?: Values
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The timeout in seconds. */
  readonly timeout?: number
}

interface HttpAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
}

function bodyOf({ data, body }: HttpConfig): unknown {
  if (data !== undefined && Object.keys(data).length > 0) return JSON.stringify(data)
  if (body instanceof FormBody) return { form: body.entries() }
  if (body instanceof UploadedFile || body instanceof Uint8Array || body === undefined) return body
  return String(body as string)
}

export const HTTP: Library = {
  send: (config: HttpConfig): Values => {
    const { url, method = 'GET', headers = {}, timeout = 120 } = config
    const request = { url, method: method.toUpperCase(), headers, timeout, body: bodyOf(config) }
    const { status, headers: got, body } = call('http', 'send', request) as HttpAnswer
    const byName = new Map<string, string[]>()
    for (const [name, value] of got) byName.set(canonical(name), [...(byName.get(canonical(name)) ?? []), value])
    const raw = Buffer.from(body).toString()
    const pairs = (byName.get('Set-Cookie') ?? []).map(
      (one) => one.split(';', 1)[0]!.split(/=(.*)/s) as [string, string],
    )
    const cookies = Object.fromEntries(pairs.map(([name, value]) => [name, { name, value }]))
    return {
      statusCode: status,
      headers: Object.fromEntries(byName),
      cookies,
      raw,
      body: Array.from(body),
      json: jsonOf(raw),
    }
  },
}

/** As Go writes names of headers: `Content-Type`. */
function canonical(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
