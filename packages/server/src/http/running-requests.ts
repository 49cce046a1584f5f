/** The requests that are being answered. */
import type { FastifyInstance } from 'fastify'
import { whenClosed } from './streamed-reply.ts'

export class RunningRequests {
  #count = 0
  #idle: (() => void) | undefined

  constructor(app: FastifyInstance) {
    const ended = (): void => {
      if (--this.#count === 0) this.#idle?.()
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
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#idle = resolve
      timer = setTimeout(resolve, msMax)
    })
    clearTimeout(timer)
  }
}
