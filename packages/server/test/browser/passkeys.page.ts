/** A page for passkeys.browser.ts: what a page of an app does with passkeys, without a library. */

/** Where an account is logged in. */
interface LoggedIn {
  readonly server: string
  readonly token: string
  readonly id: string
}

declare global {
  var passkeyPage: {
    logInByPassword(server: string, identity: string, password: string): Promise<LoggedIn>
    /** The names of the passkeys after one was registered. */
    register(account: LoggedIn, name: string): Promise<readonly string[]>
    /** The id of the account. The status is the message of an error. */
    logIn(server: string, identity?: string): Promise<string>
  }
}

const USERS = '/api/collections/users'

async function call(server: string, request: string, body?: unknown, token = ''): Promise<Record<string, unknown>> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${server}${USERS}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${response.status}: ${String(answer['message'])}`)
  return answer
}

globalThis.passkeyPage = {
  async logInByPassword(server, identity, password) {
    const { token, record } = await call(server, 'POST /auth-with-password', { identity, password })
    return { server, token: String(token), id: String((record as { id: string }).id) }
  },

  async register({ server, token, id }, name) {
    const url = `/records/${id}/passkeys`
    const options = await call(server, `POST ${url}/options`, {}, token)
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never)
    const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
    await call(server, `POST ${url}`, { name, response: made.toJSON() as unknown }, token)
    const { items } = await call(server, `GET ${url}`, undefined, token)
    return (items as { name: string }[]).map((one) => one.name)
  },

  async logIn(server, identity) {
    const options = await call(server, 'POST /request-passkey', {})
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never)
    const found = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
    const body = { response: found.toJSON() as unknown, ...(identity !== undefined && { identity }) }
    const { record } = await call(server, 'POST /auth-with-passkey', body)
    return (record as { id: string }).id
  },
}
