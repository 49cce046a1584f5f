/** A server of an app behind a proxy that can lose requests and answers. It can be killed, and restored from an older copy. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from 'pannier/types'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { call, EMAIL, ITSELF, PASSWORD, tokenFor } from '../../server/test/rest/rest-server.ts'
import { startServer, type Answer, type TestServer } from '../../server/test/test-server.ts'
import { LossyProxy, type Loss, type SeenPull } from './lossy-proxy.ts'

export interface User {
  readonly id: string
  readonly email: string
}

const MEMBERS = 'project.members.id ?= @request.auth.id'
export const USER_PASSWORD = 'the password of users'

/** Projects with members, and their tasks. `inbox` may be written by all, and is seen by nobody but its author. */
const COLLECTIONS = [
  {
    name: 'projects',
    listRule: 'members.id ?= @request.auth.id',
    viewRule: 'members.id ?= @request.auth.id',
    createRule: 'members.id ?= @request.auth.id',
    updateRule: 'members.id ?= @request.auth.id',
    deleteRule: 'members.id ?= @request.auth.id',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'members', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 9 },
    ],
  },
  {
    name: 'tasks',
    listRule: MEMBERS,
    viewRule: MEMBERS,
    createRule: MEMBERS,
    updateRule: `${MEMBERS} && locked != true`,
    deleteRule: MEMBERS,
    fields: [
      { name: 'title', type: 'text', max: 60 },
      { name: 'count', type: 'number' },
      { name: 'locked', type: 'bool' },
      { name: 'tags', type: 'select', maxSelect: 3, values: ['a', 'b', 'c'] },
      { name: 'plan', type: 'file' },
      { name: 'created', type: 'autodate', onCreate: true },
    ],
  },
  {
    name: 'reports',
    listRule: 'status = "shown"',
    viewRule: 'status = "shown"',
    createRule: '',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'status', type: 'text' },
    ],
  },
]

export class AppServer {
  readonly dir: string
  /** The environment of the server, and of devices without one of their own. */
  readonly environment: Environment
  readonly #proxy: LossyProxy
  #server: TestServer
  #token: string

  static async start(environment: Environment = virtualEnvironment()): Promise<AppServer> {
    const dir = await mkdtemp(join(tmpdir(), 'pannier-client-'))
    const server = await startServer({ dir, environment })
    const { records } = server.server.backend
    await records.create(ITSELF, '_superusers', { email: EMAIL, password: PASSWORD, passwordConfirm: PASSWORD })
    const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
    const app = new AppServer(dir, environment, server, token)
    await app.#proxy.start()
    for (const collection of COLLECTIONS) await app.#define(collection)
    return app
  }

  private constructor(dir: string, environment: Environment, server: TestServer, token: string) {
    this.dir = dir
    this.environment = environment
    this.#proxy = new LossyProxy(() => environment.wallClock())
    this.#token = token
    this.#server = server
    this.#proxy.target = server.url
  }

  /** The address of the proxy. */
  get url(): string {
    return this.#proxy.url
  }

  /** Paths of what came, in order. */
  get requests(): string[] {
    return this.#proxy.requests
  }

  /** Nobody is reached. */
  set isDown(isDown: boolean) {
    this.#proxy.isDown = isDown
  }

  /** Asked for each request of sync. */
  set lose(lose: (path: string, bytes: number) => Loss) {
    this.#proxy.lose = lose
  }

  /** Runs before a request is passed on. */
  set before(before: (path: string) => Promise<void>) {
    this.#proxy.before = before
  }

  /** Hears of the pulls that the server has answered. */
  set onPull(onPull: ((pull: SeenPull) => void) | undefined) {
    this.#proxy.onPull = onPull
  }

  /** The address of the server itself, which a start changes. */
  get backendUrl(): string {
    return this.#server.url
  }

  /** In the same process. */
  get backend(): TestServer['server']['backend'] {
    return this.#server.server.backend
  }

  /** As the superuser, past the proxy. */
  call(request: string, body?: unknown, token: string = this.#token): Promise<Answer> {
    return call(this.#server.url, request, body, token)
  }

  async addUser(name: string): Promise<User> {
    const email = `${name}@example.com`
    const { json } = await this.call('POST /collections/users/records', {
      email,
      password: USER_PASSWORD,
      passwordConfirm: USER_PASSWORD,
    })
    return { id: String(json['id']), email }
  }

  async add(collection: string, values: object): Promise<string> {
    const { status, json, text } = await this.call(`POST /collections/${collection}/records`, values)
    if (status !== 200) throw new Error(text)
    return String(json['id'])
  }

  /** What REST lists for an account, by id. */
  async listed(collection: string, { email }: User): Promise<Map<string, Record<string, unknown>>> {
    const token = await tokenFor(this.#server.url, 'users', email, USER_PASSWORD)
    const items: Record<string, unknown>[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const request = `GET /collections/${collection}/records?perPage=1000&page=${page}`
      const { json } = await this.call(request, undefined, token)
      items.push(...(json['items'] as Record<string, unknown>[]))
      pages = json['totalPages'] as number
    }
    return new Map(items.map((item) => [String(item['id']), item]))
  }

  /** Starts again on the same data, or on an older copy of them. */
  async restart(copy?: string): Promise<void> {
    await this.#server.close()
    if (copy !== undefined) {
      await rm(this.dir, { recursive: true })
      await cp(copy, this.dir, { recursive: true })
    }
    await this.#start()
    this.#token = await tokenFor(this.#server.url, '_superusers', EMAIL, PASSWORD)
  }

  /** A copy of the data as they are. */
  async copy(): Promise<string> {
    const copy = await mkdtemp(join(tmpdir(), 'pannier-client-copy-'))
    await this.#server.close()
    await cp(this.dir, copy, { recursive: true })
    await this.#start()
    return copy
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.close()
    await this.#server.close()
    await rm(this.dir, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    this.#server = await startServer({ dir: this.dir, environment: this.environment })
    this.#proxy.target = this.#server.url
  }

  async #define(collection: { readonly name: string; readonly fields: readonly object[] }): Promise<void> {
    const fields = [...collection.fields]
    if (collection.name === 'tasks') {
      const projects = await this.call('GET /collections/projects')
      fields.push({ name: 'project', type: 'relation', collectionId: projects.json['id'] })
    }
    const { status, text } = await this.call('POST /collections', { type: 'base', ...collection, fields })
    if (status !== 200) throw new Error(text)
  }
}
