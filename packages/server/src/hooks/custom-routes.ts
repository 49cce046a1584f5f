/** Answers requests to routes of the operator, and runs middlewares and handlers of events around requests of the API. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Backend, Definition, HookApp } from '@pannier/backend'
import { Suspended, type JsonObject } from '@pannier/backend/internal'
import { batchBytesMax } from '../rest/batch-routes.ts'
import { endPreview, openForm, previewForm, rawBody, type Form } from '../rest/form.ts'
import { bytesMaxOf } from '../rest/record-routes.ts'
import type { RequestRoutes, RestContext } from '../rest/rest-context.ts'
import { askedRecord, needsRecord, type AskedRecord } from './asked-record.ts'
import { requestEventName } from './request-events.ts'
import { RouteEvent, type RouteEventParts } from './route-event.ts'
import type { RouteTable } from './route-table.ts'

type FormContext = Pick<RestContext, 'bodies' | 'limits'>

export class CustomRoutes implements RequestRoutes {
  readonly #table: RouteTable
  readonly #backend: Backend
  readonly #context: FormContext
  readonly #around = new WeakMap<FastifyRequest, { readonly suspended: Suspended; readonly event: RouteEvent }>()

  constructor(table: RouteTable, backend: Backend, context: FormContext) {
    this.#table = table
    this.#backend = backend
    this.#context = context
  }

  /** Whether a route of the operator answers the request. */
  has({ method, originalUrl }: FastifyRequest): boolean {
    return this.#table.find(method, originalUrl) !== undefined
  }

  /** Runs what is around a request as far as the request itself. True: a handler has answered it. */
  enter(request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean> {
    return !this.#table.isOpen && this.#enter(request, reply)
  }

  async #enter(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { collection: asked = '' } = request.params as { readonly collection?: string }
    const collection = this.#backend.definitions.find(asked)
    const tags = collection === undefined ? [] : [collection.id, collection.name]
    const pathValues = request.params as Readonly<Record<string, string>>
    const bytesMax = formBytesMax(this.#backend, request, collection)
    const form = (): Promise<Form> => previewForm(this.#context, request, bytesMax)
    let name = requestEventName(request)
    let record: AskedRecord | undefined
    if (name !== undefined && this.#table.hasHandler(name, tags)) {
      const values = async (): Promise<JsonObject> => (await form()).texts
      record = await askedRecord(name, { backend: this.#backend, request, values })
      // As in PocketBase: the route says what is wrong.
      if (record === undefined && needsRecord(name)) name = undefined
    }
    const handlers = this.#table.around(name, tags)
    if (handlers.length === 0) return false
    const event = this.#event({ request, reply, pathValues, form, record })
    const suspended = await Suspended.start((rest) => this.#backend.hooks.run(handlers, event, rest))
    if (!suspended.wantsRest) {
      await event.send()
      return true
    }
    event.addHeaders()
    this.#around.set(request, { suspended, event })
    return false
  }

  /** Whether something runs around a request, and waits for its end. */
  isAround(request: FastifyRequest): boolean {
    return this.#around.has(request)
  }

  /** Runs the rest of that. */
  leave(request: FastifyRequest): void | Promise<void> {
    const around = this.#around.get(request)
    if (around === undefined) return endPreview(request)
    // What it throws is logged, and the answer is on its way.
    return around.suspended
      .resume()
      .catch(() => {})
      .then(() => endPreview(request))
  }

  /** False: no route of the operator is meant. */
  async handle(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const found = this.#table.find(request.method, request.originalUrl)
    if (found === undefined) return false
    const { route, pathValues, needsSlash } = found
    if (needsSlash) {
      reply.redirect(request.originalUrl.replace(/(?=\?|$)/, '/'), 301)
      return true
    }
    let form: Promise<Form> | undefined
    const event = this.#event({
      request,
      reply,
      pathValues,
      form: () => (form ??= openForm(this.#context, request, { message: '' })),
    })
    try {
      await this.#backend.hooks.run(route.handlers, event, async () => {})
      await event.send()
      return true
    } finally {
      await form?.then((one) => one.dispose()).catch(() => {})
    }
  }

  #event(parts: Omit<RouteEventParts<HookApp>, 'app' | 'definitions' | 'environment' | 'bytes'>): RouteEvent {
    const { app, definitions, environment } = this.#backend
    const bytes = (): Promise<Uint8Array> => rawBody(this.#context, parts.request)
    return new RouteEvent({ app, definitions, environment, bytes, ...parts })
  }
}

/** The limit of a form with files that handlers around a request may read. Undefined: the route alone reads it. */
function formBytesMax(
  { settings }: Backend,
  { routeOptions: { url = '' } }: FastifyRequest,
  collection: Definition | undefined,
): number | undefined {
  if (url === '/api/batch') return batchBytesMax(settings)
  return collection !== undefined && url.startsWith('/api/collections/:collection/records')
    ? bytesMaxOf(collection)
    : undefined
}
