/** The event of custom routes and middlewares: the request, and the ways to answer it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import type { Environment } from 'pannier/types'
import type { Backend, Definition, ErrorData, HookApp, HookRecord, RequestInfo, UploadedFile } from '@pannier/backend'
import { recordOfEvent, requestEvent } from '@pannier/backend/internal'
import { whenClosed } from '../http/streamed-reply.ts'
import { actorOf } from '../rest/actor.ts'
import { ApiError } from '../rest/api-error.ts'
import type { AskedRecord } from './asked-record.ts'
import type { Form } from '../rest/form.ts'

type Body = string | Uint8Array | Readable | undefined

/** A request, as handlers of routes read it. */
interface RouteRequest {
  readonly method: string
  /** The URL as the client sent it. */
  readonly url: URL
  readonly headers: Headers
  /** The part of the path that `{name}` stands for; empty if the path has no such part. */
  pathValue(name: string): string
  /** The signal that ends when the client has gone. */
  readonly signal: AbortSignal
}

/** Values that handlers keep for one another: those around a request, and that of its route. */
const kept = new WeakMap<FastifyRequest, Map<string, unknown>>()

export interface RouteEventParts<App> {
  readonly app: App & HookApp
  readonly definitions: Backend['definitions']
  readonly environment: Environment
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly pathValues: Readonly<Record<string, string>>
  /** Reads the form of the body once. */
  form(): Promise<Form>
  /** Reads the bytes of the body. */
  bytes(): Promise<Uint8Array>
  /** The subject of an event of requests. */
  readonly record?: AskedRecord | undefined
}

/**
 * A request to a custom route. One of the methods that answer is called at most once.
 *
 * @example
 * import type { Hooks } from '@pannier/server'
 *
 * export default ({ routerAdd }: Hooks): void =>
 *   routerAdd('GET', '/hello/{name}', (e) => e.json(200, { hello: e.request.pathValue('name') }))
 */
export class RouteEvent<App = HookApp> {
  /** Reads and writes without rules. */
  readonly app: App
  /** The account that asks; undefined for guests. */
  readonly auth: HookRecord | undefined
  /** The request as the handler reads it. */
  readonly request: RouteRequest
  /** The collection that the URL names. */
  readonly collection: Definition | undefined
  /** The record that an event of requests is about; undefined where no record is meant. */
  readonly record: HookRecord | undefined
  /** The headers of the answer. */
  readonly response: { readonly headers: Headers } = { headers: new Headers() }
  readonly #parts: RouteEventParts<App>
  readonly #about: ReturnType<typeof requestEvent>
  readonly #values: Map<string, unknown>
  #answer: { readonly status: number; readonly body: Body } | undefined

  constructor(parts: RouteEventParts<App>) {
    const { app, definitions, environment, request, reply, pathValues, record } = parts
    this.#parts = parts
    this.#about = requestEvent(parts, actorOf(request))
    this.app = app
    this.#values = kept.get(request) ?? new Map<string, unknown>()
    kept.set(request, this.#values)
    this.auth = this.#about.auth
    const { collection = '' } = request.params as { readonly collection?: string }
    this.collection = definitions.find(collection)
    this.record = record && recordOfEvent(record.definition, record.document, environment)
    const gone = new AbortController()
    whenClosed(reply, () => gone.abort())
    this.request = {
      method: request.method,
      url: new URL(request.originalUrl, `${request.protocol}://${request.host}`),
      headers: new Headers(
        Object.entries(request.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        ),
      ),
      pathValue: (name) => (Object.hasOwn(pathValues, name) ? pathValues[name]! : ''),
      signal: gone.signal,
    }
  }

  /** Runs the rest of the chain. */
  next: () => Promise<void> = async () => {}

  /** Whether a superuser asks. */
  hasSuperuserAuth(): boolean {
    return this.#about.hasSuperuserAuth()
  }

  /** The real IP: the address that the request came from, also through proxies that the settings trust. */
  realIP(): string {
    return this.#about.realIP() ?? this.remoteIP()
  }

  /** The address of the connection. */
  remoteIP(): string {
    return this.#parts.request.ip
  }

  /** Whether the connection is encrypted, also through proxies that the server trusts. */
  isTLS(): boolean {
    return this.#parts.request.protocol === 'https'
  }

  /**
   * The part of the request that rules read, and its body. @throws ServiceError INVALID for a body that can't be read
   */
  async requestInfo(): Promise<RequestInfo & { readonly body: Readonly<Record<string, unknown>> }> {
    const { values } = await this.#parts.form()
    return { ...this.#about.requestInfo(), body: values }
  }

  /** The values of the body: JSON, or a form. @throws ServiceError INVALID */
  async bindBody(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#parts.form()).values
  }

  /** The bytes of the body as it came, up to 32 MiB: for signatures of webhooks. The body can be read again. */
  bytes(): Promise<Uint8Array> {
    return this.#parts.bytes()
  }

  /** The uploads of a form under a name. They can be read until the answer is sent. */
  async findUploadedFiles(name: string): Promise<readonly UploadedFile[]> {
    return (await this.#parts.form()).files.get(name) ?? []
  }

  /** A value that another handler of the chain has kept under a name. */
  get(name: string): unknown {
    return this.#values.get(name)
  }

  /** Keeps a value for other handlers of the chain. */
  set(name: string, value: unknown): void {
    this.#values.set(name, value)
  }

  /** Answers with JSON. */
  json(status: number, value: unknown): void {
    this.#respond(status, `${JSON.stringify(value)}\n`, 'application/json')
  }

  /** Answers with plain text. */
  string(status: number, text: string): void {
    this.#respond(status, text, 'text/plain; charset=utf-8')
  }

  /** Answers with HTML, as it is. */
  html(status: number, text: string): void {
    this.#respond(status, text, 'text/html; charset=utf-8')
  }

  /** Answers with bytes of this type: `image/png`. */
  blob(status: number, type: string, bytes: Uint8Array): void {
    this.#respond(status, bytes, type)
  }

  /** Answers with the bytes of a stream. */
  stream(status: number, type: string, stream: Readable): void {
    this.#respond(status, stream, type)
  }

  /** Answers without content, with no body. */
  noContent(status = 204): void {
    this.#respond(status, undefined)
  }

  /** Sends the client to another URL. */
  redirect(status: 301 | 302 | 303 | 307 | 308, url: string): void {
    this.response.headers.set('location', url)
    this.#respond(status, undefined)
  }

  /** An error to throw: 400. */
  badRequestError(message?: string, data?: ErrorData): ApiError {
    return new ApiError(400, message, data)
  }

  /** An error to throw: 401. */
  unauthorizedError(message?: string, data?: ErrorData): ApiError {
    return new ApiError(401, message, data)
  }

  /** An error to throw: 403. */
  forbiddenError(message?: string, data?: ErrorData): ApiError {
    return new ApiError(403, message, data)
  }

  /** An error to throw: 404. */
  notFoundError(message?: string, data?: ErrorData): ApiError {
    return new ApiError(404, message, data)
  }

  /** An error to throw: 429. */
  tooManyRequestsError(message?: string, data?: ErrorData): ApiError {
    return new ApiError(429, message, data)
  }

  /** An error to throw: 500. */
  internalServerError(message?: string, data?: ErrorData): ApiError {
    return new ApiError(500, message, data)
  }

  /** To throw: any status from 400 to 599. */
  error(status: number, message?: string, data?: ErrorData): ApiError {
    return new ApiError(status, message, data)
  }

  /** Whether a handler has answered. */
  get isAnswered(): boolean {
    return this.#answer !== undefined
  }

  /** Sends what handlers have answered: 200 without a body if they have not. */
  send(): FastifyReply {
    const { status, body } = this.#answer ?? { status: 200, body: undefined }
    return this.addHeaders().code(status).send(body)
  }

  /** To an answer that is another's. */
  addHeaders(): FastifyReply {
    const { reply } = this.#parts
    for (const [name, value] of this.response.headers) reply.header(name, value)
    return reply
  }

  #respond(status: number, body: Body, type?: string): void {
    if (this.#answer !== undefined)
      throw new Error('e.json() and the like: the request must be answered once, got two.')
    if (type !== undefined && !this.response.headers.has('content-type'))
      this.response.headers.set('content-type', type)
    this.#answer = { status, body }
  }
}
