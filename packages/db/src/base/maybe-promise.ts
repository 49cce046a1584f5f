/** Values that are there already where a backend or the cache is synchronous, and promised where it is not. */

export type MaybePromise<T> = T | Promise<T>

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/**
 * Goes on with `next` at once when the value is there, else when it arrives. (Not named `then`: a module that exports a
 * `then` is a thenable, and `await import()` of it never gives the module.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value)
}
