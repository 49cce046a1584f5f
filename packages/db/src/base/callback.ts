/**
 * Functions that callers give. What one returns is unknown, whatever its type says: JavaScript, an `async` too many, a `return` too few.
 * So nobody uses a result unseen. A promise is awaited or refused, the shape is checked, and what a function throws stays as it is.
 */
import type { Environment } from './environment.ts'
import { badArgument } from './options.ts'

/** The result that a function must have. */
export interface Expected<T> {
  /** The subject of the message: follows "must return". */
  readonly what: string
  /** Whether it is. */
  readonly is: (value: unknown) => value is T
}

export const A_BOOLEAN: Expected<boolean> = { what: 'true or false', is: (value) => typeof value === 'boolean' }
export const A_STRING: Expected<string> = { what: 'a string', is: (value) => typeof value === 'string' }

export const A_FUNCTION: Expected<() => void> = {
  what: 'a function',
  is: (value): value is () => void => typeof value === 'function',
}

/** Whether a value is a promise, or would be awaited as one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/**
 * Calls a function that nobody waits for. `call` is what the user called, `name` the function: 'filter'.
 *
 * @throws TypeError
 */
export function callUser<T = unknown>(call: string, name: string, run: () => unknown, expected?: Expected<T>): T {
  return checked(call, name, notPromised(call, name, run()), expected)
}

/** For a function that may promise. */
export async function awaitUser<T = unknown>(
  call: string,
  name: string,
  run: () => unknown,
  expected?: Expected<T>,
): Promise<T> {
  return checked(call, name, await run(), expected)
}

/** The result of a function that nobody waits for: it would be taken for true, or for a value. */
export function notPromised(call: string, name: string, result: unknown): unknown {
  if (!isThenable(result)) return result
  // Nobody else hears of its failure.
  result.then(undefined, () => {})
  throw badArgument(call, `${name} must be synchronous`, result)
}

/** A listener changes nothing for whom it listens to: what it throws becomes an uncaught error, as of event listeners. */
export function tellListener(listener: () => unknown): void {
  try {
    listener()
  } catch (error) {
    void Promise.reject(error as Error)
  }
}

function checked<T>(call: string, name: string, result: unknown, expected: Expected<T> | undefined): T {
  if (expected !== undefined && !expected.is(result))
    throw badArgument(call, `${name} must return ${expected.what}`, result)
  return result as T
}

const tokens = new WeakMap<object, string>()

/**
 * A token of a function: no other function has it, and it changes in another tab and in a later process. The source text is no identity. Two
 * functions with one text may have captured different values, and all bound ones have the same. So only the object counts, unless data of
 * the caller (`version`, `parameters`) says more.
 */
export function functionToken({ randomId }: Pick<Environment, 'randomId'>, one: object): string {
  let token = tokens.get(one)
  if (token === undefined) tokens.set(one, (token = randomId()))
  return token
}
