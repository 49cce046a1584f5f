/** A small server with authentication on a real database, over real HTTP: databases `open`, `team`, `closed` and `_users`. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fastify, type FastifyInstance } from 'fastify'
import { open, type Collection, type Database } from 'pannier'
import { systemEnvironment } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { virtualEnvironment } from 'pannier/testing'
import { expect } from 'vitest'
import { Auth, type AuthOptions } from '../../src/auth/auth.ts'
import type { ServiceError, StoredDocuments } from '@pannier/backend'
import { Passwords, ServerState } from '@pannier/backend/internal'
import { LoginLimiter } from '../../../backend/src/accounts/login-limiter.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { AuthHost } from '../../src/auth/auth-host.ts'
import { authPlugin } from '../../src/auth/plugin.ts'
import { newSigningKey } from '../../src/auth/signing-key.ts'
import { HttpError, toHttpError } from '../../src/http/http-error.ts'
import { readJsonObject } from '../../src/http/request-body.ts'

export interface AuthServer {
  readonly url: string
  readonly auth: Auth
  readonly database: Database
  readonly users: Collection<JsonObject>
  /** Open feeds on `team`: what each was ended with. */
  readonly ended: ServiceError[]
  /** Resolves when nothing goes on; `count` feeds are open then. */
  feedsOpen(count: number): Promise<void>
  /** The server on the same file, started again. */
  restart(): Promise<void>
  setSecurity(database: string, security: JsonObject): Promise<void>
  /** As JSON; `cookie` is what the answer sets. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  logIn(name: string, password: string): Promise<string>
  close(): Promise<void>
}

export interface RequestOptions {
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Record<string, string>
  readonly cookie?: string
  readonly basic?: string
}

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Headers
  /** `AuthSession=…`. */
  readonly cookie: string
}

export const BODY = { bytesMax: 1_000_000, stallMsMax: 5000 }

export async function startAuthServer(
  options: AuthOptions = {},
  environment: Environment = systemEnvironment(),
): Promise<AuthServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pannier-auth-'))
  const server = new Running(join(folder, 'db.sqlite'), options, environment)
  await server.start()
  return Object.assign(server, {
    close: async () => {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  })
}

class Running implements Omit<AuthServer, 'close'> {
  readonly ended: ServiceError[] = []
  readonly #feeds = new Set<object>()
  readonly #path: string
  readonly #options: AuthOptions
  readonly #environment: Environment
  readonly #signingKey: Buffer = newSigningKey(systemEnvironment())
  #parts: { app: FastifyInstance; database: Database; auth: Auth; url: string } | undefined

  constructor(path: string, options: AuthOptions, environment: Environment) {
    this.#environment = environment
    this.#path = path
    this.#options = options
  }

  get url(): string {
    return this.#parts!.url
  }

  get auth(): Auth {
    return this.#parts!.auth
  }

  get database(): Database {
    return this.#parts!.database
  }

  get users(): Collection<JsonObject> {
    return this.database.collection<JsonObject>('$_users')
  }

  async feedsOpen(count: number): Promise<void> {
    await virtualEnvironment().idle()
    expect(this.#feeds.size).toBe(count)
  }

  async start(): Promise<void> {
    const environment = this.#environment
    const database = await open(this.#path, { environment })
    const state = new ServerState(database)
    const users = database.collection<JsonObject>('$_users')
    const host: AuthHost = {
      environment,
      database,
      state,
      limiter: new LoginLimiter(this.#options.loginLimits, environment),
      passwords: new Passwords(environment, this.#options.hashLimits),
      users,
      security: async (name) => (await state.get(`security/${name}`))?.['security'] as JsonObject | undefined,
    }
    const auth = await Auth.open(host, this.#signingKey, this.#options)
    const app = appOf(auth, database, this.ended, this.#feeds)
    app.decorate('environment', environment)
    this.#parts = { app, database, auth, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
  }

  async stop(): Promise<void> {
    await this.#parts!.app.close()
    await this.#parts!.database.close()
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async setSecurity(database: string, security: JsonObject): Promise<void> {
    await new ServerState(this.database).set(`security/${database}`, { security })
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { body, text = body === undefined ? undefined : JSON.stringify(body), cookie, basic } = options
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(cookie !== undefined && { cookie }),
        ...(basic !== undefined && { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
        ...options.headers,
      },
      ...(text !== undefined && { body: text }),
    })
    const setCookie = response.headers.get('set-cookie') ?? ''
    const answer = (await response.json()) as Record<string, unknown>
    return { status: response.status, body: answer, headers: response.headers, cookie: setCookie.split(';')[0]! }
  }

  async logIn(name: string, password: string): Promise<string> {
    const { status, cookie, body } = await this.request('POST', '/_session', { body: { name, password } })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return cookie
  }
}

function appOf(auth: Auth, database: Database, ended: ServiceError[], feeds: Set<object>): FastifyInstance {
  const app = fastify({ forceCloseConnections: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, _request, reply) => {
    const {
      status,
      error: word,
      reason,
      retryAfterSeconds,
    } = toHttpError(error) ?? new HttpError(500, 'internal_server_error', String(error))
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
    return reply.code(status).send({ error: word, reason })
  })
  void app.register(authPlugin(auth))
  void app.register(async (routes) => {
    routes.get('/_up', { config: { needs: 'anyone' } }, () => ({ status: 'ok' }))
    routes.get('/_all_dbs', { config: { needs: 'server-admin' } }, () => ({ ok: true }))
    routes.get('/_who', { config: { needs: 'user' } }, (request) => request.principal)
    routes.get('/_forgotten', () => ({ ok: true }))
    routes.get('/:db', { config: { needs: 'member' } }, () => ({ ok: true }))
    routes.put('/:db/_security', { config: { needs: 'database-admin' } }, () => ({ ok: true }))
    routes.post('/:db', { config: { needs: 'member' } }, () => ({ ok: true }))
    routes.get('/:db/_all_docs', { config: { needs: 'member' } }, () => ({ ok: true }))
    routes.get('/:db/_feed', { config: { needs: 'member' } }, (request) => {
      const { db } = request.params as { db: string }
      return new Promise((resolve) => {
        const stop = auth.whileAllowed(request, 'member', db, (error) => {
          ended.push(error)
          feeds.delete(request)
          resolve({ ended: error.message })
        })
        feeds.add(request)
        request.raw.once('close', () => {
          feeds.delete(request)
          stop()
        })
      })
    })
    routes.get('/:db/_local/:id', { config: { needs: 'member' } }, () => ({ ok: true }))
    routes.get('/:db/:id', { config: { needs: 'member' } }, async (request) => {
      const { db, id } = request.params as { db: string; id: string }
      return (await database.collection<JsonObject>(db === '_users' ? '$_users' : db).get(id)) ?? { missing: true }
    })
    routes.put('/:db/:id', { config: { needs: 'member' } }, async (request) => {
      const { db, id } = request.params as { db: string; id: string }
      const collection = database.collection<JsonObject>(db === '_users' ? '$_users' : db)
      const document = { ...(await readJsonObject(request, BODY)), _id: id }
      const stored = storedIn(collection)
      const write = { principal: request.principal, database: db, stored, documents: [document], newEdits: true }
      const [guarded] = await auth.guard.prepare!(write)
      if (guarded instanceof Error) throw guarded
      return await collection.put(guarded!)
    })
  })
  return app
}

function storedIn(collection: Collection<JsonObject>): StoredDocuments {
  return {
    name: collection.name,
    get: async (id, options = {}) => collection.get(id, options),
    leaves: () => Promise.reject(new Error('not asked for')),
    wasDeleted: async (id) => {
      const [row] = await collection.list({ ids: [id] }).toArray()
      return row !== undefined && 'deleted' in row
    },
  }
}
