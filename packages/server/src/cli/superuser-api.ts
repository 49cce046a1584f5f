/** PocketBase's API of a server that runs, for the superuser of a URL. */
import { isJsonObject } from '@pannier/backend/internal'
import { FailedError } from './outcome.ts'

const LOGIN = '/api/collections/_superusers/auth-with-password'

export class SuperuserApi {
  readonly #url: URL
  readonly #signal: AbortSignal
  #token: string | undefined

  /** `url`: with the e-mail address and the password. */
  constructor(url: URL, signal: AbortSignal) {
    this.#url = url
    this.#signal = signal
  }

  /** An empty object for an answer without a body. @throws FailedError */
  async json(method: string, path: string, body?: object): Promise<unknown> {
    return jsonOf(await this.#send(method, path, body))
  }

  /** @throws FailedError */
  async text(path: string): Promise<string> {
    return (await this.#send('GET', path)).text()
  }

  async #send(method: string, path: string, body?: object): Promise<Response> {
    this.#token ??= await this.#logIn()
    return this.#answer(method, path, body, { authorization: this.#token })
  }

  async #logIn(): Promise<string> {
    const { username, password } = this.#url
    const body = { identity: decodeURIComponent(username), password: decodeURIComponent(password) }
    const { token } = (await jsonOf(await this.#answer('POST', LOGIN, body, {}))) as { readonly token: string }
    return token
  }

  async #answer(
    method: string,
    path: string,
    body: object | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { origin } = this.#url
    const response = await fetch(new URL(path, origin), {
      method,
      signal: this.#signal,
      redirect: 'error',
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    }).catch((error: unknown) => {
      if (this.#signal.aborted) throw error
      throw new FailedError(`${origin} does not answer.`, { cause: error })
    })
    if (response.ok) return response
    const { message = response.statusText, data } = await jsonOf(response)
    throw new FailedError(explained(message, data))
  }
}

async function jsonOf(response: Response): Promise<{ readonly message?: string; readonly data?: unknown }> {
  return (await response.json().catch(() => ({}))) as { readonly message?: string; readonly data?: unknown }
}

/** The message of an error, and what is wrong with each field. */
export function explained(message: string, data: unknown): string {
  const wrong = Object.entries(isJsonObject(data) ? data : {}).flatMap(([name, error]) =>
    isJsonObject(error) && typeof error['message'] === 'string' ? [`${name}: ${error['message']}`] : [],
  )
  return [message, ...wrong].join(' ')
}
