/** The real PocketBase, for tests that compare with it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const VERSION = 'v0.39.11'
export const SUPERUSER = 'test@example.com'
export const PASSWORD = '1234567890'

const SOURCE = join(import.meta.dirname, '../../packages/server/testing/pocketbase-peer')
const START_MS_MAX = 30_000

/** The program: the one that POCKETBASE names, or one that Go makes. Undefined if there is no Go. */
export function findPocketBase(): string | undefined {
  const given = process.env['POCKETBASE']
  if (given !== undefined) return given
  if (spawnSync('go', ['version']).status !== 0) return undefined
  const binary = join(tmpdir(), `pannier-pocketbase-${VERSION}`, 'pocketbase')
  if (existsSync(binary)) return binary
  const build = ['build', '-trimpath', '-ldflags', '-s -w', '-o', binary, '.']
  const { status, stderr } = spawnSync('go', build, { cwd: SOURCE, encoding: 'utf8' })
  if (status !== 0) throw new Error(`go ${build.join(' ')} failed:\n${stderr}`)
  return binary
}

/** What a test prints if it can't compare. */
export const NOT_ASKED: string = `\n!!! PocketBase ${VERSION} WAS NOT ASKED: install Go, or name the program in POCKETBASE.\n`

export interface Reply {
  readonly status: number
  /** Undefined if there is no body. */
  readonly body: unknown
}

/** One process with a folder of its own, and a superuser. */
export class PocketBaseServer implements AsyncDisposable {
  readonly url: string
  readonly #server: ChildProcess
  readonly #folder: string
  #token = ''

  static async start(binary: string): Promise<PocketBaseServer> {
    const folder = mkdtempSync(join(tmpdir(), 'pannier-pocketbase-'))
    const run = [`--dir=${folder}`, '--dev=false']
    const { status, stderr } = spawnSync(binary, ['superuser', 'upsert', SUPERUSER, PASSWORD, ...run], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`PocketBase does not start:\n${stderr}`)
    const port = await freePort()
    const server = spawn(binary, ['serve', `--http=127.0.0.1:${port}`, ...run], { stdio: 'ignore' })
    const peer = new PocketBaseServer(server, `http://127.0.0.1:${port}`, folder)
    try {
      await peer.#logIn()
    } catch (error) {
      await peer[Symbol.asyncDispose]()
      throw error
    }
    return peer
  }

  private constructor(server: ChildProcess, url: string, folder: string) {
    this.#server = server
    this.url = url
    this.#folder = folder
  }

  async #logIn(): Promise<void> {
    const until = performance.now() + START_MS_MAX
    while (!(await fetch(`${this.url}/api/health`).catch(() => undefined))?.ok) {
      if (performance.now() > until) throw new Error(`${this.url} does not answer.`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const login = { identity: SUPERUSER, password: PASSWORD }
    const { body } = await this.ask('POST', '/api/collections/_superusers/auth-with-password', login)
    this.#token = (body as { token: string }).token
  }

  /** As the superuser, unless a token is given. */
  async ask(method: string, path: string, body?: unknown, token: string = this.#token): Promise<Reply> {
    const isForm = body instanceof FormData
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: token }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.once('close', resolve))
    this.#server.kill()
    await closed
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
