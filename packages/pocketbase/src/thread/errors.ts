/** Errors of PocketBase's code, and those of the server in its hands. */
import type { ErrorData } from '../protocol/messages.ts'

/** An error as Go gives it: `error()` is its text. */
export class GoError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'GoError'
  }

  error(): string {
    return this.message
  }

  override toString(): string {
    return this.message
  }
}

/** An error of the server. One that is thrown again is the server's own error again. */
class ServerError extends GoError {
  /** The parts of the error that can be shown. */
  readonly value: { readonly status: number | undefined; readonly data: unknown }
  readonly ref: number | undefined

  constructor({ message, ref, status, data }: ErrorData) {
    super(message)
    this.ref = ref
    this.value = { status, data }
  }
}

/** An error with the status of its answer. */
class ApiError extends Error {
  status: number
  data: unknown

  constructor(status = 0, message = '', data?: unknown) {
    super(sentence(message))
    this.name = 'ApiError'
    this.status = status
    this.data = data
  }
}

function withStatus(status: number): new (message?: string, data?: unknown) => ApiError {
  return class extends ApiError {
    constructor(message = '', data?: unknown) {
      super(status, message, data)
    }
  }
}

/** As PocketBase writes messages of errors. */
function sentence(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return ''
  const whole = trimmed[0]!.toUpperCase() + trimmed.slice(1)
  return /[.?!]$/.test(whole) ? whole : `${whole}.`
}

/** The error of one value: `new BadRequestError('…', { title: new ValidationError('code', 'message') })`. */
class ValidationError extends Error {
  readonly #code: string

  constructor(code = '', message = '') {
    super(message)
    this.#code = code
  }

  code(): string {
    return this.#code
  }

  error(): string {
    return this.message
  }
}

/** The classes of errors, by their names. */
export const API_ERRORS: ReadonlyMap<string, new (...parameters: never[]) => Error> = new Map<
  string,
  new (...parameters: never[]) => Error
>([
  ['ApiError', ApiError],
  ['BadRequestError', withStatus(400)],
  ['UnauthorizedError', withStatus(401)],
  ['ForbiddenError', withStatus(403)],
  ['NotFoundError', withStatus(404)],
  ['TooManyRequestsError', withStatus(429)],
  ['InternalServerError', withStatus(500)],
  ['ValidationError', ValidationError],
])

export function errorOf(data: ErrorData): Error {
  return new ServerError(data)
}

/** The form of an error for the server. */
export function dataOf(error: unknown): ErrorData {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message } = error
  const stack = theirs(error.stack)
  const data = { name, message, stack }
  if (error instanceof ServerError) return error.ref === undefined ? data : { ...data, ref: error.ref }
  return error instanceof ApiError ? { ...data, status: error.status, data: safeData(error.data) } : data
}

/** Without lines of this package: the first one is then of the user's file. */
function theirs(stack = ''): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes(import.meta.dirname))
    .join('\n')
}

/** As PocketBase shows data of errors: of values that are no errors of validation it says only that they are wrong. */
function safeData(data: unknown): Record<string, unknown> {
  if (typeof data !== 'object' || data === null || data instanceof Error) return {}
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, safeItem(value)]))
}

function safeItem(value: unknown): unknown {
  if (value instanceof ValidationError) return { code: value.code(), message: value.message }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Error))
    return safeData(value)
  return { code: 'validation_invalid_value', message: 'Invalid value.' }
}
