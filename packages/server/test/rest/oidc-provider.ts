/** A real provider of OpenID Connect, whose only user agrees to everything, and a browser that goes there. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export const CLIENT_ID = 'our-app'
export const CLIENT_SECRET = 'a secret of the client that is long enough'
const USER = {
  sub: 'ann-at-the-provider',
  name: 'Ann',
  preferred_username: 'ann',
  email: 'ann@example.com',
  email_verified: true,
}

export interface OidcProvider extends AsyncDisposable {
  readonly url: string
}

/** `redirectURLs`: where it may send users back to. */
export async function startOidcProvider(redirectURLs: readonly string[]): Promise<OidcProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirectURLs],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'] },
    // The `id_token` says it too.
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the cookies'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, accountId) => ({ accountId, claims: () => USER }),
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return void handle(request, response)
    void (async () => {
      const { prompt, params } = await provider.interactionDetails(request, response)
      if (prompt.name === 'login')
        return provider.interactionFinished(request, response, { login: { accountId: USER.sub } })
      const grant = new provider.Grant({ accountId: USER.sub, clientId: CLIENT_ID })
      grant.addOIDCScope(String(params['scope']))
      const consent = { grantId: await grant.save() }
      return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true })
    })()
  })
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Follows redirects with cookies, as a browser does, until an answer is no redirect, or leads to `stop`. Resolves with the last URL. */
export async function browse(from: string, stop = 'nowhere:'): Promise<string> {
  const cookies = new Map<string, string>()
  for (let url = from; ;) {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      cookies.set(name!, value!)
    }
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (location === null) return url
    url = new URL(location, url).href
    if (url.startsWith(stop)) return url
  }
}
