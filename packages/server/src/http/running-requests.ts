/** The requests that are being answered. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pause } from 'pannier/internal'
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

/**
 * Calls back once for each request: when its answer was sent, or was made for a client that has gone. Fastify's `onResponse` is not called
 * for the latter.
 */
export function onAnswered(
  app: FastifyInstance,
  call: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  const made = new WeakSet<FastifyRequest>()
  const called = new WeakSet<FastifyRequest>()
  const callOnce = (request: FastifyRequest, reply: FastifyReply): void => {
    if (called.has(request)) return
    called.add(request)
    call(request, reply).catch((error: unknown) => request.log.error({ err: error }, 'the end of a request has failed'))
  }
  app.addHook('onRequest', (request, reply, done) => {
    // A stream that has taken the reply over is sent by nobody else.
    whenClosed(reply, () => (made.has(request) || reply.sent) && callOnce(request, reply))
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    made.add(request)
    if (isClosed(reply)) callOnce(request, reply)
    done(null, payload)
  })
}
