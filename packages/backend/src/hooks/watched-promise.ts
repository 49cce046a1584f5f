/** A promise that knows whether anybody awaits it. Its rejection never ends the process. */

type OnFailure = (error: unknown, isAwaited: () => boolean) => Promise<void>

export class WatchedPromise<T> extends Promise<T> {
  #isAwaited = false
  #onFailure: OnFailure = async () => {}

  /** `onFailure`: is called when it rejects, and asks when it wants to know. */
  static of<T>(promise: Promise<T>, onFailure: OnFailure): WatchedPromise<T> {
    const made = new WatchedPromise<T>((resolve, reject) => void promise.then(resolve, reject))
    made.#watch(onFailure)
    return made
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isAwaited = true
    const next = super.then(onFulfilled, onRejected)
    // A chain that nobody awaits at its end is forgotten, too.
    if (next instanceof WatchedPromise) next.#watch(this.#onFailure)
    return next
  }

  #watch(onFailure: OnFailure): void {
    this.#onFailure = onFailure
    void super.then(undefined, (error: unknown) => onFailure(error, () => this.#isAwaited))
  }
}
