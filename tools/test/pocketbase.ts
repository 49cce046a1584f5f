/** The real PocketBase, for tests that compare with it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { freePort } from '../processes.ts'
import { notRun } from './not-run.ts'

export const VERSION = 'v0.39.11'
export const SUPERUSER = 'test@example.com'
export const PASSWORD = '1234567890'

const SOURCE = join(import.meta.dirname, '../../packages/server/testing/pocketbase-peer')
const START_MS_MAX = 120_000

const BUILT = join(tmpdir(), `pannier-pocketbase-${VERSION}-jsvm`, 'pocketbase')

/** The program that POCKETBASE names, or that was made before, or that Go makes, in minutes. A case without it is not run. */
export function needPocketBase(context: TestContext): string {
  return findPocketBase() ?? notRun(context, `PocketBase ${VERSION} (POCKETBASE names the program, or Go builds it)`)
}

/** The program of PocketBase, built if need be; undefined if there is no Go. */
export function findPocketBase(): string | undefined {
  const ready = process.env['POCKETBASE'] ?? (existsSync(BUILT) ? BUILT : undefined)
  if (ready !== undefined) return ready
  if (spawnSync('go', ['version']).status !== 0) return undefined
  const build = ['build', '-trimpath', '-ldflags', '-s -w', '-o', BUILT, '.']
  const { status, stderr } = spawnSync('go', build, { cwd: SOURCE, encoding: 'utf8' })
  if (status !== 0) throw new Error(`go ${build.join(' ')} failed:\n${stderr}`)
  return BUILT
}

/** The folder of data that PocketBase's own tests begin with. A case without it is not run. */
export function needTestData(context: TestContext): string {
  const list = ['list', '-m', '-f', '{{.Dir}}', 'github.com/pocketbase/pocketbase']
  const { status, stdout } = spawnSync('go', list, { cwd: SOURCE, encoding: 'utf8' })
  if (status !== 0 || stdout.trim() === '') notRun(context, `the test data of PocketBase ${VERSION} (Go has them)`)
  return join(stdout.trim(), 'tests/data')
}

export interface Reply {
  readonly status: number
  /** Undefined if there is no body. */
  readonly body: unknown
}

/** One process with a folder of its own, and a superuser. */
export class PocketBaseServer implements AsyncDisposable {
  readonly url: string
  /** The folder for `--dir`. */
  readonly folder: string
  readonly #server: ChildProcess
  #token = ''

  /** The superuser's. */
  get token(): string {
    return this.#token
  }

  /** `data`: a folder to begin with, which stays as it is. `project`: the folder of `pb_hooks` and `pb_migrations`. */
  static async start(binary: string, data?: string, project?: string): Promise<PocketBaseServer> {
    const folder = mkdtempSync(join(tmpdir(), 'pannier-pocketbase-'))
    if (data !== undefined) cpSync(data, folder, { recursive: true })
    const run = [`--dir=${folder}`, '--dev=false']
    const code = project && { PB_HOOKS: join(project, 'pb_hooks'), PB_MIGRATIONS: join(project, 'pb_migrations') }
    const env = { ...process.env, ...code }
    const { status, stderr } = spawnSync(binary, ['superuser', 'upsert', SUPERUSER, PASSWORD, ...run], {
      encoding: 'utf8',
      env,
    })
    if (status !== 0) throw new Error(`PocketBase does not start:\n${stderr}`)
    const port = await freePort()
    const server = spawn(binary, ['serve', `--http=127.0.0.1:${port}`, ...run], { stdio: 'ignore', env })
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
    this.folder = folder
  }

  async #logIn(): Promise<void> {
    const until = performance.now() + START_MS_MAX
    while (!(await fetch(`${this.url}/api/health`).catch(() => undefined))?.ok) {
      if (performance.now() > until) throw new Error(`${this.url} does not answer.`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    this.#token = await logIn(this.url, '_superusers', SUPERUSER, PASSWORD)
  }

  /** As the superuser, unless a token is given. */
  ask(method: string, path: string, body?: unknown, token: string = this.#token, headers: object = {}): Promise<Reply> {
    return ask(this.url, method, path, body, token, headers)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.exitCode === null && this.#server.signalCode === null) {
      const closed = new Promise((resolve) => this.#server.once('close', resolve))
      this.#server.kill()
      await closed
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A request to PocketBase, or to a server that has its API. `body` is JSON unless it is a form. `token` `''`: a guest. */
export async function ask(
  url: string,
  method: string,
  path: string,
  body: unknown,
  token: string,
  headers: object = {},
): Promise<Reply> {
  const isForm = body instanceof FormData
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: token }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

/** The token of an account. */
export async function logIn(url: string, collection: string, identity: string, password: string): Promise<string> {
  const path = `/api/collections/${collection}/auth-with-password`
  const { status, body } = await ask(url, 'POST', path, { identity, password }, '')
  if (status !== 200) throw new Error(`${identity} can't log in: ${status} ${JSON.stringify(body)}`)
  return (body as { token: string }).token
}
