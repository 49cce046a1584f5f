/** Errors of the domain, in its own words. `http/http-error.ts` gives each code its status. */

/** Codes are stable. */
export type ServiceErrorCode =
  /** The identity of the caller is unknown, and a guest may not. */
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  /** Something else was written meanwhile, or has the name. */
  | 'CONFLICT'
  /** A collection of this name. */
  | 'EXISTS'
  | 'INVALID'
  | 'NAME_INVALID'
  | 'DESIGN_INVALID'
  | 'COMPILATION_FAILED'
  | 'TOO_LARGE'
  | 'DOCUMENT_TOO_LARGE'
  | 'TOO_MANY_REQUESTS'
  /** A collection takes no more bytes. */
  | 'QUOTA_EXCEEDED'
  /** The service is unavailable: the request may succeed another time. */
  | 'UNAVAILABLE'
  /** This place lacks what it takes. */
  | 'UNSUPPORTED'
  /** A function of a design document has thrown. */
  | 'FUNCTION_FAILED'
  /** A function of a design document took too much time or memory. */
  | 'FUNCTION_STOPPED'

/** The error of one value, in PocketBase's words. */
export interface FieldError {
  /** The code, which is stable: `validation_required`. */
  readonly code: string
  /** The message for a person. */
  readonly message: string
  /** The parameters of the message. */
  readonly params?: Readonly<Record<string, unknown>>
}

/** Errors of an input, nested as the input is: `{ fields: { 1: { name: { code, message } } } }`. */
export interface ErrorData {
  /** The error of one value, or the errors inside it. */
  readonly [name: string]: FieldError | ErrorData
}

/** A refusal of the server, or a failure. */
export class ServiceError extends Error {
  /** The code, which is stable: programs may compare it. */
  readonly code: ServiceErrorCode
  /** The seconds after which it may go well. */
  readonly retryAfterSeconds: number | undefined
  /** The error of each field of an input. */
  readonly data: ErrorData | undefined

  /** `message` is shown to the principal. */
  constructor(
    code: ServiceErrorCode,
    message: string,
    options: ErrorOptions & { readonly retryAfterSeconds?: number; readonly data?: ErrorData } = {},
  ) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
    this.data = options.data
  }
}

/** A ServiceError FORBIDDEN. */
export function forbidden(message: string): ServiceError {
  return new ServiceError('FORBIDDEN', message)
}

/** A ServiceError INVALID. */
export function invalid(message: string): ServiceError {
  return new ServiceError('INVALID', message)
}

/** A ServiceError INVALID for one value of a form. */
export function invalidForm(name: string, error: FieldError): ServiceError {
  return new ServiceError('INVALID', 'An error occurred while validating the submitted data.', {
    data: { [name]: error },
  })
}

/**
 * Refuses a misspelt name, which nobody would read: a trial would write, a token would never end. Routes of PocketBase's take any name.
 *
 * @throws ServiceError INVALID
 */
export function checkNames(what: string, input: object, names: readonly string[]): void {
  const unknown = Object.keys(input).find((name) => !names.includes(name))
  if (unknown !== undefined) throw invalid(`${what} has ${names.join(', ')}, got ${JSON.stringify(unknown)}.`)
}

/** A ServiceError NOT_FOUND. */
export function missing(message: string): ServiceError {
  return new ServiceError('NOT_FOUND', message)
}

/** Runs what the library checks: its TypeErrors are about what the principal has sent. */
export async function asInvalid<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof TypeError ? new ServiceError('INVALID', error.message, { cause: error }) : error
  }
}

/** A ServiceError CONFLICT, in CouchDB's words. */
export function conflicting(): ServiceError {
  return new ServiceError('CONFLICT', 'Document update conflict.')
}

/** @throws ServiceError FORBIDDEN for all but superusers */
export function checkAdmin({ isAdmin }: { readonly isAdmin: boolean }): void {
  if (!isAdmin) throw forbidden('')
}
