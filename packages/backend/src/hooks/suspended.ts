/** Something that runs around something else, held at the place where that begins. */

export class Suspended {
  /** Whether what is around wants the rest to run. */
  readonly wantsRest: boolean
  readonly #whole: Promise<void>
  readonly #rest: PromiseWithResolvers<void>

  /** Runs `around` until it calls what it is given, or ends. @throws what it throws before that */
  static async start(around: (rest: () => Promise<void>) => Promise<void>): Promise<Suspended> {
    const rest = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<true>()
    // Both may fail while nobody waits.
    rest.promise.catch(() => {})
    const whole = around(() => {
      reached.resolve(true)
      return rest.promise
    })
    whole.catch(() => {})
    const wantsRest = await Promise.race([reached.promise, whole.then(() => false as const)])
    return new Suspended(wantsRest, whole, rest)
  }

  private constructor(wantsRest: boolean, whole: Promise<void>, rest: PromiseWithResolvers<void>) {
    this.wantsRest = wantsRest
    this.#whole = whole
    this.#rest = rest
  }

  /** The rest has ended well. @throws what is around it throws */
  async resume(): Promise<void> {
    this.#rest.resolve()
    await this.#whole
  }

  /** The rest has failed. @throws `error`, or what is around it makes of it */
  async fail(error: unknown): Promise<never> {
    this.#rest.reject(error)
    await this.#whole
    throw error
  }
}
