/**
 * A promise with the methods of jQuery's that apps written for JSONStore call. `then` with two functions, `await`, `catch` and
 * `finally` are those of any promise.
 *
 * - `done`, `fail` and `always` give the same promise, so that they chain: `find(…).then(show).done(hide).fail(report)`.
 * - What a function given to them throws is an unhandled rejection, and changes nothing for others.
 * - A failure with `fail` or `always` on its promise is handled; so is one with `done` alone, as with jQuery.
 * - `promise` is what `$.when` of jQuery asks for; with it `$.when(one, two)` waits for both, and gives each as `[result]`, as with JSONStore.
 * - A function given to `then` may return `$.when(one, two)`: the next function gets both results. `await` gives the first.
 */
export interface JSONStorePromise<T> extends Promise<T> {
  /** Calls back with the result. */
  done(...callbacks: readonly ((result: T) => unknown)[]): this
  /** Calls back with the failure. */
  fail(...callbacks: readonly ((error: unknown) => unknown)[]): this
  /** Calls back with the result or the failure. */
  always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this
  /** This promise as jQuery 1 and 2 take it. */
  promise(): JQueryPromise<T>
  /** A promise that follows is again such a promise. */
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): JSONStorePromise<A | B>
}

/** The part of a jQuery promise that jQuery itself calls. Its callbacks get a second argument, undefined, as JSONStore's did. */
export interface JQueryPromise<T> {
  /** Calls back with the result. */
  done(...callbacks: readonly ((result: T, more: undefined) => unknown)[]): this
  /** Calls back with the error. */
  fail(...callbacks: readonly ((error: unknown) => unknown)[]): this
  /** Calls back at the end, whichever it is. */
  always(...callbacks: readonly ((resultOrError: unknown) => unknown)[]): this
  /** Nothing is ever in progress. */
  progress(): this
  /** As `then` of a promise. */
  then: Promise<T>['then']
  /** The promise itself. */
  promise(): this
}

class ChainedPromise<T> extends Promise<T> {
  /** The further results of a jQuery promise that this one follows. */
  #more: readonly unknown[] = []

  // oxlint-disable-next-line no-thenable -- A promise has it.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T, ...more: unknown[]) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): ChainedPromise<A | B> {
    const follow = <R>(result: R | PromiseLike<R>): R | PromiseLike<R> =>
      isJQueryPromise<R>(result)
        ? new Promise((resolve, reject) => {
            const take = (first: R, ...more: unknown[]): void => {
              next.#more = more
              resolve(first)
            }
            result.then(take, reject)
          })
        : result
    const next = super.then(
      typeof onFulfilled === 'function' ? (value) => follow(onFulfilled(value, ...this.#more)) : undefined,
      typeof onRejected === 'function' ? (reason) => follow(onRejected(reason)) : undefined,
    ) as ChainedPromise<A | B>
    return next
  }

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

  promise(): JQueryPromise<T> {
    const jQueryPromise: JQueryPromise<T> = {
      done: (...callbacks) => {
        void this.done(...callbacks.map((callback) => (result: T) => callback(result, undefined)))
        return jQueryPromise
      },
      fail: (...callbacks) => {
        void this.fail(...callbacks)
        return jQueryPromise
      },
      always: (...callbacks) => {
        void this.always(...callbacks)
        return jQueryPromise
      },
      progress: () => jQueryPromise,
      // oxlint-disable-next-line no-thenable -- jQuery takes it for its own promise, and apps chain on it.
      then: (onFulfilled, onRejected) => this.then(onFulfilled, onRejected),
      promise: () => jQueryPromise,
    }
    return jQueryPromise
  }
}

/** `start` is called at once. */
export function chainedPromise<T>(
  start: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void,
): JSONStorePromise<T> {
  return new ChainedPromise<T>(start) as unknown as JSONStorePromise<T>
}

function isJQueryPromise<R>(result: unknown): result is PromiseLike<R> {
  if (typeof result !== 'object' || result === null || result instanceof Promise) return false
  return ['then', 'done', 'fail', 'promise'].every((name) => typeof Reflect.get(result, name) === 'function')
}

function ignore(): void {}
