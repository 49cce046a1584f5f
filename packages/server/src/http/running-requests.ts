/** The requests that are being answered. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isPromise, pause, type MaybePromise } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { isClosed, whenClosed } from './streamed-reply.ts'

export class RunningRequests {
  readonly #environment: Environment
  #count = 0
  #idle: AbortController | undefined

  constructor(app: FastifyInstance) {
    this.#environment = app.environment
    const ended = (): void => {
      if (--this.#count === 0) this.#idle?.abort()
    }
    app.addHook('onRequest', (_request, reply, done) => {
      this.#count++
      whenClosed(reply, ended)
      done()
    })
  }

  /** Resolves when no request runs, at the latest after `msMax`. */
  async idle(msMax: number): Promise<void> {
    if (this.#count === 0) return
    this.#idle = new AbortController()
    await pause(this.#environment, msMax, this.#idle.signal)
  }
}

/** `ms`: the time from the head of the request to the end of its answer. */
type EndCall = (request: FastifyRequest, reply: FastifyReply, ms: number) => MaybePromise<void>

const END: unique symbol = Symbol('end')

/** The end of one request: whatever waits for it has one listener. */
class RequestEnd {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #calls: EndCall[] = []
  readonly #startMs: number
  #isMade = false
  #isCalled = false

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request
    this.#reply = reply
    this.#startMs = reply.server.environment.now()
    // A stream that has taken the reply over is sent by nobody else.
    whenClosed(reply, () => (this.#isMade || reply.sent) && this.#callOnce())
  }

  add(call: EndCall): void {
    this.#calls.push(call)
  }

  /** The answer is made: its client may have gone. */
  made(): void {
    this.#isMade = true
    if (isClosed(this.#reply)) this.#callOnce()
  }

  #callOnce(): void {
    if (this.#isCalled) return
    this.#isCalled = true
    const ms = this.#reply.server.environment.now() - this.#startMs
    const failed = (error: unknown): void => this.#request.log.error({ err: error }, 'the end of a request has failed')
    for (const call of this.#calls) {
      try {
        const calling = call(this.#request, this.#reply, ms)
        if (isPromise(calling)) calling.catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}

type WithEnd = FastifyReply['raw'] & { [END]?: RequestEnd }

/**
 * Calls back once for each request: when its answer was sent, or was made for a client that has gone. Fastify's `onResponse` is not called
 * for the latter.
 */
export function onAnswered(app: FastifyInstance, call: EndCall): void {
  app.addHook('onRequest', (request, reply, done) => {
    const raw = reply.raw as WithEnd
    ;(raw[END] ??= new RequestEnd(request, reply)).add(call)
    done()
  })
  if (app.hasDecorator(MADE)) return
  app.decorate(MADE, true)
  app.addHook('onSend', (_request, reply, payload, done) => {
    ;(reply.raw as WithEnd)[END]?.made()
    done(null, payload)
  })
}

/** The decorator of an app whose answers are noted as made. */
const MADE = 'notesMadeAnswers'
