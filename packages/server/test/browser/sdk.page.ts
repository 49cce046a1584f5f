/** A page for sdk.wired.browser.ts and sdk-methods.browser.ts: PocketBase's own client in a browser. */
import PocketBase, { BaseAuthStore } from 'pocketbase'
import { sdkSuite, type SdkServer } from '../../testing/sdk-suite.ts'

/** Where clients subscribe: `count` of them at each server, which is the same one under several addresses. */
interface Subscribers {
  readonly servers: readonly string[]
  readonly count: number
}

/** What has come of a login by a provider. */
interface ProviderLogin {
  readonly email: string
  readonly isNew: boolean
  readonly isValid: boolean
}

declare global {
  /** Runs all cases, and gives what has failed. */
  var runSdk: (server: SdkServer) => Promise<readonly string[]>
  /** Clients of this tab. */
  var sdkTab: {
    /** Each has a connection of its own. Client number `n` of all wants records with `votes = n % 10`. */
    subscribe(subscribers: Subscribers): Promise<void>
    /** The titles that each client has got, in the order in which they came. */
    titles(): readonly (readonly string[])[]
    create(server: string, title: string, votes: number): Promise<void>
    unsubscribe(): Promise<void>
    /** Opens the provider in a window, and waits for the login. */
    login(server: string): Promise<ProviderLogin>
    /** Opens it too, and gets the code from the URL of this page to which it returns. */
    loginByCode(server: string): Promise<ProviderLogin>
  }
}

globalThis.runSdk = async (server) => {
  const cases: (readonly [name: string, body: () => void | Promise<void>])[] = []
  sdkSuite({ test: (name, body) => cases.push([name, body]), create: async () => server })
  const failures: string[] = []
  for (const [name, body] of cases) {
    try {
      await body()
    } catch (error) {
      failures.push(`${name}: ${String(error)}`)
    }
  }
  return [`${cases.length} cases`, ...failures]
}

const subscribed: { readonly client: PocketBase; readonly titles: string[] }[] = []

function clientOf(server: string): PocketBase {
  return new PocketBase(server, new BaseAuthStore()).autoCancellation(false)
}

function outcomeOf(client: PocketBase, meta: Record<string, unknown> | undefined): ProviderLogin {
  const { record, isValid } = client.authStore
  return { email: String(record?.['email']), isNew: meta?.['isNew'] === true, isValid }
}

globalThis.sdkTab = {
  async subscribe({ servers, count }) {
    for (const server of servers)
      await Promise.all(
        Array.from({ length: count }, async () => {
          const one = { client: clientOf(server), titles: [] as string[] }
          const votes = subscribed.push(one) % 10
          await one.client
            .collection('votes')
            .subscribe('*', ({ record }) => void one.titles.push(String(record['title'])), {
              filter: `votes = ${votes}`,
            })
        }),
      )
  },
  titles: () => subscribed.map(({ titles }) => titles),
  async create(server, title, votes) {
    await clientOf(server).collection('votes').create({ title, votes })
  },
  async unsubscribe() {
    await Promise.all(subscribed.splice(0).map(({ client }) => client.realtime.unsubscribe()))
  },
  async login(server) {
    const client = clientOf(server)
    const { meta } = await client.collection('users').authWithOAuth2({ provider: 'oidc' })
    return outcomeOf(client, meta)
  },
  async loginByCode(server) {
    const client = clientOf(server)
    const { oauth2 } = await client.collection('users').listAuthMethods()
    const { authURL, codeVerifier, state } = oauth2.providers[0]!
    const back = `${location.origin}${location.pathname}`
    const coming = codeFor(state)
    window.open(authURL + encodeURIComponent(back), '_blank', 'width=400,height=400')
    const code = await coming
    const { meta } = await client.collection('users').authWithOAuth2Code('oidc', code, codeVerifier, back)
    return outcomeOf(client, meta)
  },
}

/** The window comes back to this page, which says so. */
const returned = new BroadcastChannel('returned from the provider')
if (location.search.includes('code=')) {
  returned.postMessage(location.search)
  window.close()
}

function codeFor(state: string): Promise<string> {
  return new Promise((resolve) =>
    returned.addEventListener('message', ({ data }) => {
      const parameters = new URLSearchParams(String(data))
      if (parameters.get('state') === state) resolve(parameters.get('code') ?? '')
    }),
  )
}
