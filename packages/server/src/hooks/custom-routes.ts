/** Answers requests to routes of the operator, and runs middlewares and handlers of events around requests of the API. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Backend } from '@pannier/backend'
import { Suspended } from '@pannier/backend/internal'
import { openForm, previewForm, type Form } from '../rest/form.ts'
import type { RequestRoutes, RestContext } from '../rest/rest-context.ts'
import { requestEventName } from './request-events.ts'
import { RouteEvent } from './route-event.ts'
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

  /** Runs what is around a request as far as the request itself. True: a handler has answered it. */
  async enter(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    if (this.#table.isOpen) return false
    const { collection: name = '' } = request.params as { readonly collection?: string }
    const collection = this.#backend.definitions.find(name)
    const tags = collection === undefined ? [] : [collection.id, collection.name]
    const handlers = this.#table.around(requestEventName(request), tags)
    if (handlers.length === 0) return false
    const pathValues = request.params as Readonly<Record<string, string>>
    const event = this.#event(request, reply, pathValues, () => previewForm(this.#context, request))
    const suspended = await Suspended.start((rest) => this.#backend.hooks.run(handlers, event, rest))
    if (!suspended.wantsRest) {
      await event.send()
      return true
    }
    event.addHeaders()
    this.#around.set(request, { suspended, event })
    return false
  }

  /** Runs the rest of that. */
  async leave(request: FastifyRequest): Promise<void> {
    // What it throws is logged, and the answer is on its way.
    await this.#around
      .get(request)
      ?.suspended.resume()
      .catch(() => {})
  }

  /** False: no route of the operator is meant. */
  async handle(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const found = this.#table.find(request.method, request.originalUrl)
    if (found === undefined) return false
    const { route, pathValues } = found
    let form: Promise<Form> | undefined
    const event = this.#event(
      request,
      reply,
      pathValues,
      () => (form ??= openForm(this.#context, request, { message: '' })),
    )
    try {
      await this.#backend.hooks.run(route.handlers, event, async () => {})
      await event.send()
      return true
    } finally {
      await form?.then((one) => one.dispose()).catch(() => {})
    }
  }

  #event(
    request: FastifyRequest,
    reply: FastifyReply,
    pathValues: Readonly<Record<string, string>>,
    form: () => Promise<Form>,
  ): RouteEvent {
    const { app, definitions } = this.#backend
    return new RouteEvent({ app, definitions, request, reply, pathValues, form })
  }
}
