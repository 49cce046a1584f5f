/**
 * A promise with the methods of jQuery's that apps written for JSONStore call. `then` with two functions, `await`, `catch` and
 * `finally` are those of any promise.
 *
 * - `done`, `fail` and `always` give the same promise, so that they chain: `find(…).then(show).done(hide).fail(report)`.
 * - What a function given to them throws is an unhandled rejection, and changes nothing for others.
 * - A failure with `fail` or `always` on its promise is handled; so is one with `done` alone, as with jQuery.
 */
export interface JSONStorePromise<T> extends Promise<T> {
  /** Calls back with the result. */
  done(...callbacks: readonly ((result: T) => unknown)[]): this
  /** Calls back with the failure. */
  fail(...callbacks: readonly ((error: unknown) => unknown)[]): this
  /** Calls back with the result or the failure. */
  always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this
  /** What follows is again such a promise. */
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): JSONStorePromise<A | B>
}

class ChainedPromise<T> extends Promise<T> {
  done(...callbacks: readonly ((result: T) => unknown)[]): this {
    for (const callback of callbacks) void this.then(callback, ignore)
    return this
  }

  fail(...callbacks: readonly ((error: unknown) => unknown)[]): this {
    for (const callback of callbacks) void this.then(undefined, callback)
    return this
  }

  always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this {
    for (const callback of callbacks) void this.then(callback, callback)
    return this
  }
}

/** `start` is called at once. */
export function chainedPromise<T>(
  start: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void,
): JSONStorePromise<T> {
  return new ChainedPromise<T>(start) as unknown as JSONStorePromise<T>
}

function ignore(): void {}
