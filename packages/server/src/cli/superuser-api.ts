/** PocketBase's API of a server that runs, for the superuser of a URL. */
import { isObject } from 'pannier/internal'
import { text } from 'node:stream/consumers'
import { FailedError } from './outcome.ts'

const LOGIN = '/api/collections/_superusers/auth-with-password'

/** An answer that is an error. */
export class ApiError extends FailedError {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class SuperuserApi {
  readonly #url: URL
  readonly #signal: AbortSignal
  #token: string | undefined

  /** `url`: with the e-mail address and the password, unless there is a token. */
  constructor(url: URL, signal: AbortSignal, token?: string) {
    this.#url = url
    this.#signal = signal
    this.#token = token
  }

  get origin(): string {
    return this.#url.origin
  }

  /** `body`: JSON or a form. An empty object for an answer without a body. @throws ApiError, FailedError */
  async json(method: string, path: string, body?: object): Promise<unknown> {
    return wholeJson(await this.send(method, path, body), this.origin)
  }

  /** @throws ApiError, FailedError */
  async text(path: string): Promise<string> {
    return text(wholeBody(await this.send('GET', path), this.origin))
  }

  /** The answer, if it is no error. @throws ApiError, FailedError */
  async send(method: string, path: string, body?: object): Promise<Response> {
    this.#token ??= await this.#logIn()
    return this.#answer(method, path, body, { authorization: this.#token })
  }

  async #logIn(): Promise<string> {
    const { username, password } = this.#url
    const body = { identity: decodeURIComponent(username), password: decodeURIComponent(password) }
    const answer = await this.#answer('POST', LOGIN, body, {}).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      throw new ApiError(error.status, `${body.identity} can't log in at ${this.origin}. ${error.message}`)
    })
    const { token } = (await wholeJson(answer, this.origin)) as { readonly token?: unknown }
    if (typeof token !== 'string') throw new FailedError(`${this.origin} does not answer as PocketBase does.`)
    return token
  }

  async #answer(
    method: string,
    path: string,
    body: object | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const isForm = body instanceof FormData
    const { origin, pathname } = this.#url
    const response = await fetch(new URL(pathname.replace(/\/*$/, '') + path, origin), {
      method,
      signal: this.#signal,
      redirect: 'error',
      headers: { ...headers, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
    }).catch((error: unknown) => {
      if (this.#signal.aborted) throw error
      throw new FailedError(`${origin} does not answer.`, { cause: error })
    })
    if (response.ok) return response
    const { message = response.statusText, data, mfaId } = await reasonOf(response)
    const reason = mfaId === undefined ? explained(message, data) : 'It takes a second method, which is not there.'
    throw new ApiError(response.status, reason)
  }
}

interface JsonAnswer {
  readonly message?: string
  readonly data?: unknown
  /** The id of a login that is half done (mfa). */
  readonly mfaId?: string
}

/** The message of an error. Empty without JSON, as the answer of a proxy is. */
async function reasonOf(response: Response): Promise<JsonAnswer> {
  const answer: unknown = await response.json().catch(() => ({}))
  return isObject(answer) ? answer : {}
}

/** The JSON of an answer, or an empty object if it has no body. @throws FailedError if it is cut, or something else */
export async function wholeJson(response: Response, origin: string): Promise<unknown> {
  const json = await text(wholeBody(response, origin))
  try {
    return json === '' ? {} : JSON.parse(json)
  } catch (error) {
    throw new FailedError(`The answer of ${origin} is no JSON: another program listens there.`, { cause: error })
  }
}

/** @throws FailedError if the connection ends before the answer does */
export async function* wholeBody({ body }: Response, origin: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body ?? []
  } catch (error) {
    throw new FailedError(`The answer of ${origin} did not come whole. Try again.`, { cause: error })
  }
}

/** The message of an error, and what is wrong with each field. */
export function explained(message: string, data: unknown): string {
  const wrong = Object.entries(isObject(data) ? data : {}).flatMap(([name, error]) =>
    isObject(error) && typeof error['message'] === 'string' ? [`${name}: ${error['message']}`] : [],
  )
  return [message, ...wrong].join(' ')
}
