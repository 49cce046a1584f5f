/**
 * OAuth2 in a window of its own, as PocketBase's SDK does it: the server tells the code to the stream that waits for it. Loaded by the
 * first that signs in so.
 */
import { awaitUser } from 'pannier/internal'
import { ClientError } from './client-error.ts'
import { readEvents } from './event-stream.ts'
import { routeOf, type Server } from './server.ts'
import type { Values } from './writes.ts'

/** How the window is opened. */
export interface PopupOptions {
  /** Opens the page of the provider. By default in a window. */
  readonly open?: (url: string) => unknown
  /** Values of the account if it is new. */
  readonly createData?: Values
  /** Gives up, as no event tells that a window was closed. */
  readonly signal?: AbortSignal
}

interface Provider {
  readonly name: string
  readonly authURL: string
  readonly codeVerifier: string
}

/** The redirect of a provider, which the stream has got. */
interface Redirect {
  readonly state: string
  readonly code?: string
  readonly error?: string
}

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Gets the values for `auth-with-oauth2`. `place`: the window, which was opened in the click. */
export async function signInByPopup(
  server: Server,
  collection: string,
  name: string,
  { open = openWindow, createData = {}, signal }: PopupOptions,
  place: Window | null,
): Promise<Values> {
  if (open === openWindow && globalThis.window === undefined)
    throw new ClientError(
      'PANNIER_SIGN_IN_FAILED',
      'oauth2(): there are no windows here. Give "open", which shows an address to the user.',
    )
  const ended = new AbortController()
  let failure: { readonly error: unknown } | undefined
  const stop = AbortSignal.any([ended.signal, ...(signal === undefined ? [] : [signal])])
  try {
    const methods = routeOf('GET', collection, 'auth-methods')
    const { oauth2 } = await server.send<{ oauth2: { providers: readonly Provider[] } }>(methods)
    const provider = oauth2.providers.find((each) => each.name === name)
    if (provider === undefined)
      throw new ClientError(
        'PANNIER_SIGN_IN_FAILED',
        `oauth2(): the provider must be one of ${collection}, got ${name}.`,
      )
    const redirectURL = `${server.url}/api/oauth2-redirect`
    const redirect = await redirected(server, stop, (clientId) => {
      const url = pageOf(provider, redirectURL)
      url.searchParams.set('state', clientId)
      if (place) place.location.href = String(url)
      else
        void awaitUser('oauth2()', 'open', () => open(String(url))).catch((error: unknown) => {
          failure = { error }
          ended.abort()
        })
    })
    if (redirect.code === undefined)
      throw new ClientError('PANNIER_SIGN_IN_FAILED', `${name} did not sign in: ${redirect.error ?? 'no code'}.`)
    return { provider: name, code: redirect.code, codeVerifier: provider.codeVerifier, redirectURL, createData }
  } catch (cause) {
    if (failure !== undefined) throw failure.error
    throw cause instanceof ClientError
      ? cause
      : new ClientError('PANNIER_PEER_UNREACHABLE', 'The server did not answer.', { cause })
  } finally {
    ended.abort()
    place?.close()
  }
}

/** The provider's redirect to this client. */
async function redirected(server: Server, signal: AbortSignal, opened: (clientId: string) => void): Promise<Redirect> {
  const response = await server.open('GET /api/realtime', undefined, { signal })
  for await (const { event, data } of readEvents(response)) {
    if (event === 'PB_CONNECT') {
      const { clientId } = data as { readonly clientId: string }
      await server.send('POST /api/realtime', { clientId, subscriptions: ['@oauth2'] })
      opened(clientId)
    } else if (event === '@oauth2') return data as Redirect
  }
  throw new ClientError('PANNIER_PEER_UNREACHABLE', 'The server ended the wait for the provider.')
}

function openWindow(url: string): unknown {
  return window.open(url, '_blank')
}

/** The server is not the app: it gets no script and no file into a window that the app has opened. */
function pageOf({ name, authURL }: Provider, redirectURL: string): URL {
  const url = URL.parse(authURL + redirectURL)
  const isLocal = url !== null && url.protocol === 'http:' && LOCAL.test(url.hostname)
  if (url !== null && (isLocal || url.protocol === 'https:')) return url
  throw new ClientError(
    'PANNIER_PEER_REFUSED',
    `oauth2(): the address of ${name} must begin with https://, got "${authURL}".`,
  )
}
