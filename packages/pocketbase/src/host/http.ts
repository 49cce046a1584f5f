/** Requests of `$http.send`. */
import type { Environment } from 'pannier/types'

export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text, bytes, a file, or a form: names and values. */
  readonly body?: unknown
  /** The timeout in seconds. */
  readonly timeout: number
}

interface HttpAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

export async function sendHttp(request: HttpRequest, environment: Environment): Promise<HttpAnswer> {
  const { url, method, headers = {}, body, timeout } = request
  const late = new AbortController()
  const cancel = environment.after(timeout * 1000, () =>
    late.abort(new Error(`$http.send(): ${url} has not answered within ${timeout} s.`)),
  )
  try {
    const content = bodyOf(body)
    const response = await fetch(url, {
      method,
      headers,
      signal: late.signal,
      ...(content !== undefined && { body: content }),
    })
    return {
      status: response.status,
      headers: [...response.headers],
      body: new Uint8Array(await response.arrayBuffer()),
    }
  } finally {
    cancel()
  }
}

function bodyOf(body: unknown): BodyInit | undefined {
  if (typeof body !== 'object' || body === null || !('form' in body)) return body as BodyInit | undefined
  const form = new FormData()
  for (const [name, value] of body.form as readonly (readonly [string, unknown])[])
    form.append(name, value instanceof Blob ? value : String(value as string))
  return form
}
