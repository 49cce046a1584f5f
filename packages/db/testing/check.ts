/**
 * The assertions of suites that run in vitest and in browsers. Small on purpose: a suite imports only the library and
 * this file.
 */

/** Thrown by a check that does not hold. */
export class CheckError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CheckError'
  }
}

/** Deep equality: plain objects, arrays, bytes, Maps, Sets, Dates, errors (name, code, message); NaN equals NaN, -0 differs from 0. */
export function assertEqual<T>(actual: T, expected: T, what?: string): void {
  const path = firstDifference(actual, expected, '')
  if (path === undefined) return
  const place = path === '' ? '' : ` (first difference at ${path})`
  throw new CheckError(`${prefix(what)}expected ${show(expected)}, got ${show(actual)}${place}`)
}

/** Throws if the condition does not hold. */
export function assertTrue(condition: boolean, what = 'the condition holds'): asserts condition {
  if (!condition) throw new CheckError(`expected that ${what}`)
}

/** Throws if the value is undefined. */
export function assertDefined<T>(value: T | undefined | null, what = 'the value'): asserts value is T {
  if (value === undefined || value === null)
    throw new CheckError(`expected ${what} to be defined, got ${String(value)}`)
}

/** Fails unless `body` throws; with `expected`, an error of that class or with that `code`. Returns what was thrown. */
export function assertThrows(body: () => unknown, expected?: ExpectedError): unknown {
  try {
    body()
  } catch (error) {
    return checkError(error, expected)
  }
  throw new CheckError(`expected ${describe(expected)}, but nothing was thrown`)
}

/** Fails unless `promise` rejects; with `expected`, with an error of that class or with that `code`. Returns the reason. */
export async function assertRejects(promise: PromiseLike<unknown>, expected?: ExpectedError): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return checkError(error, expected)
  }
  throw new CheckError(`expected ${describe(expected)}, but the promise was fulfilled`)
}

/** A stable code (`PANNIER_CLOSED`) or an error class (`TypeError`). */
export type ExpectedError = string | (new (...parameters: never[]) => Error)

function checkError(error: unknown, expected: ExpectedError | undefined): unknown {
  if (expected === undefined) return error
  const matches =
    typeof expected === 'string'
      ? (error as { code?: unknown } | undefined)?.code === expected
      : error instanceof expected
  if (matches) return error
  throw new CheckError(`expected ${describe(expected)}, got ${show(error)}`)
}

function describe(expected: ExpectedError | undefined): string {
  if (expected === undefined) return 'an error'
  return typeof expected === 'string' ? `an error with the code ${expected}` : `a ${expected.name}`
}

function prefix(what: string | undefined): string {
  return what === undefined ? '' : `${what}: `
}

/** Where the two first differ, as a path from the root ('' for the root itself); undefined if they are equal. */
function firstDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return path
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return path
  if (actual instanceof Date) return actual.getTime() === (expected as Date).getTime() ? undefined : path
  if (actual instanceof Error) return firstDifference(errorFacts(actual), errorFacts(expected as Error), path)
  if (actual instanceof Map) return firstDifference([...actual], [...(expected as Map<unknown, unknown>)], path)
  if (actual instanceof Set) return firstDifference([...actual], [...(expected as Set<unknown>)], path)
  if (actual instanceof ArrayBuffer) {
    return differenceOfItems(new Uint8Array(actual), new Uint8Array(expected as ArrayBuffer), path)
  }
  if (actual instanceof Uint8Array && sameBytes(actual, expected as Uint8Array)) return undefined
  if (ArrayBuffer.isView(actual) || Array.isArray(actual)) {
    return differenceOfItems(actual as unknown as ArrayLike<unknown>, expected as ArrayLike<unknown>, path)
  }
  return differenceOfFields(actual as Fields, expected as Fields, path)
}

/** The common case of large values, quickly: in Node by its own comparison. */
function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  if (buffers !== undefined && a.length > 100) return buffers.compare(a, b) === 0
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const { Buffer: buffers } = globalThis as { Buffer?: { compare(a: Uint8Array, b: Uint8Array): number } }

type Fields = Record<string, unknown>

function errorFacts(error: Error): Fields {
  return { name: error.name, message: error.message, code: (error as { code?: unknown }).code }
}

function differenceOfItems(actual: ArrayLike<unknown>, expected: ArrayLike<unknown>, path: string): string | undefined {
  for (let index = 0; index < Math.min(actual.length, expected.length); index++) {
    const difference = firstDifference(actual[index], expected[index], `${path}[${index}]`)
    if (difference !== undefined) return difference
  }
  return actual.length === expected.length ? undefined : `${path}.length`
}

function differenceOfFields(actual: Fields, expected: Fields, path: string): string | undefined {
  for (const name of Object.keys(expected)) {
    if (!Object.hasOwn(actual, name)) return `${path}.${name}`
    const difference = firstDifference(actual[name], expected[name], `${path}.${name}`)
    if (difference !== undefined) return difference
  }
  for (const name of Object.keys(actual)) if (!Object.hasOwn(expected, name)) return `${path}.${name}`
  return undefined
}

const SHOWN_CHARS_MAX = 600

/** For messages: JSON-like, cut off where it gets long. */
function show(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : (safeJson(value) ?? String(value))
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}… (${text.length} characters)`
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_name, inner: unknown) => {
      if (typeof inner === 'bigint') return `${inner}n`
      if (inner === undefined) return '(undefined)'
      if (typeof inner === 'number' && !Number.isFinite(inner)) return String(inner)
      if (Object.is(inner, -0)) return '-0'
      if (ArrayBuffer.isView(inner)) return { [inner.constructor.name]: Array.from(inner as Uint8Array) }
      if (inner instanceof Map || inner instanceof Set) return { [inner.constructor.name]: [...inner] }
      return inner
    })
  } catch {
    return undefined
  }
}
