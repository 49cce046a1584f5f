/** One request to the server, at its REST API or at CouchDB's door. Every other file of `api/` says what there is to ask for. */
import type { Environment } from '../environment.ts'

/** The error of one value of a form. */
interface FieldError {
  readonly code: string
  readonly message: string
}

/** The code of a text with signs that its pattern does not have. */
export const BAD_FORMAT = 'validation_match_invalid'

/** The answer was no, or there was none: then the status is 0. */
export class ApiError extends Error {
  readonly status: number
  /** By the name of the field. An error of a list or of an object has errors inside. */
  readonly fields: Readonly<Record<string, FieldError>>
  /** The whole answer of the server. */
  readonly answer: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, answer: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, { cause })
    this.name = 'ApiError'
    this.status = status
    this.answer = answer
    this.fields = fieldErrorsOf(answer['data'])
  }
}

interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** An object is sent as JSON; a form with files, and a file, as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Acts by this token, not by that of the session. */
  readonly token?: string
}

/** The session around requests; `state/session.ts` sets it. */
interface RequestHost {
  readonly environment: Environment
  token(): string
  /** The server has refused what a superuser may do: the session may have ended. */
  refused(status: number): void
  /** Whether the server answers. */
  answers(yes: boolean): void
}

let host: RequestHost

export function setRequestHost(given: RequestHost): void {
  host = given
}

/** For the other files of `api/`. */
export function hostEnvironment(): Environment {
  return host.environment
}

/** Beside the folder of the page, so that a proxy may serve both below a path. */
export function apiUrl(path: string, query: RequestOptions['query'] = {}): string {
  return urlOf(`api${path}`, query)
}

function urlOf(path: string, query: RequestOptions['query'] = {}): string {
  const url = new URL(`../${path}`, document.baseURI)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  return url.href
}

/** Sends a request. Gives the JSON of the answer; undefined for an answer without a body. @throws ApiError */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const text = await textOf(method, `api${path}`, options)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** As `request`, for a text that is no JSON. @throws ApiError */
export function requestText(method: string, path: string): Promise<string> {
  return textOf(method, `api${path}`, {})
}

/** Sends a request to CouchDB's door, where superusers are admins: `/_all_dbs`. @throws ApiError */
export async function couchRequest<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return JSON.parse(await couchText(method, path, options)) as T
}

/** As `couchRequest`, for what is no JSON. @throws ApiError */
export function couchText(method: string, path: string, options: RequestOptions = {}): Promise<string> {
  return textOf(method, path.slice(1), options)
}

/** Whether the page itself has ended the request. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Whether the server is away. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || isOfProxy(error.status))
}

/** A proxy answers so while the server is away. */
function isOfProxy(status: number): boolean {
  return status === 502 || status === 504
}

/** The bytes of a file at CouchDB's door. @throws ApiError */
export async function couchFile(path: string): Promise<Blob> {
  return (await responseTo('GET', path.slice(1), {})).blob()
}

async function textOf(method: string, path: string, options: RequestOptions): Promise<string> {
  return (await responseTo(method, path, options)).text()
}

async function responseTo(
  method: string,
  path: string,
  { query, body, headers, signal, token = host.token() }: RequestOptions,
): Promise<Response> {
  const isSentAsIs = body instanceof FormData || body instanceof Blob
  const response = await fetch(urlOf(path, query), {
    method,
    headers: {
      // CouchDB's door asks for the name of the scheme.
      ...(token !== '' && { authorization: path.startsWith('api/') ? token : `Bearer ${token}` }),
      ...(body !== undefined && !isSentAsIs && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isSentAsIs ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    host.answers(false)
    throw new ApiError(0, '', {}, error)
  })
  host.answers(!isOfProxy(response.status))
  if (response.ok) return response
  if (token === host.token()) host.refused(response.status)
  throw await errorOf(response)
}

async function errorOf(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  const said = answer['message'] ?? answer['reason']
  return new ApiError(response.status, typeof said === 'string' ? said : '', answer)
}

/** Null and lists are none. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** By name: what `data` of an error says. */
export function fieldErrorsOf(data: unknown): Readonly<Record<string, FieldError>> {
  if (!isObject(data)) return {}
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, given]): [string, FieldError][] => {
      const error = firstError(given)
      return error === undefined ? [] : [[name, error]]
    }),
  )
}

/** Errors of items stand below their numbers. */
function firstError(given: unknown): FieldError | undefined {
  if (!isObject(given)) return undefined
  const { code, message } = given
  if (typeof message === 'string') return { code: String(code), message }
  for (const inner of Object.values(given)) {
    const error = firstError(inner)
    if (error !== undefined) return error
  }
  return undefined
}
