/** A write of the app. */
import type { RejectedWrite } from './rejected.ts'

/** What the server said about a write. */
export type ServerAnswer =
  | { readonly status: 'ok' }
  /** It is in `client.rejected` now. */
  | { readonly status: 'rejected'; readonly rejected: RejectedWrite }

/**
 * Awaited: the write is stored on this device, and the app sees it. Its `server` tells what the server said, which may be days later.
 *
 * @example
 * const write = tasks.create({ title: 'Buy milk' })
 * const task = await write
 * const answer = await write.server
 * if (answer.status === 'rejected') show(answer.rejected.message)
 */
export class Write<R> implements PromiseLike<R> {
  readonly #local: Promise<R>
  readonly #answered: () => Promise<ServerAnswer>

  /** @internal */
  constructor(local: Promise<R>, answered: () => Promise<ServerAnswer>) {
    this.#local = local
    this.#answered = answered
  }

  /** Resolves when the server has answered. A write that was not stored here rejects. */
  get server(): Promise<ServerAnswer> {
    return this.#local.then(this.#answered)
  }

  /** For `await`. */
  then<A = R, B = never>(
    resolved?: ((value: R) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#local.then(resolved, rejected)
  }
}
