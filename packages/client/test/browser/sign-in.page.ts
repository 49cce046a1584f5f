/** A page for sign-in.browser.ts: an app where its users sign in. */
import { connect, type Client, type UntypedCollections } from '../../src/index.ts'

export interface SignInTab {
  start(url: string): Promise<void>
  /** Registers a passkey of the account, as an app does it by REST. */
  register(collection: string, identity: string, password: string): Promise<void>
  /** The id of the account, or the code of the error. */
  byPasskey(collection: string): Promise<string>
  /** In a window of the provider. */
  byProvider(collection: string, provider: string): Promise<string>
  signOut(): Promise<void>
  /** The account that is signed in; null: nobody is. And how sync is. */
  state(): Promise<readonly [account: string | null, state: string]>
}

declare global {
  var signInTab: SignInTab
}

let client: Client<UntypedCollections>
let server: string

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code ?? error)

async function call(path: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: client.token! }
  const response = await fetch(server + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as unknown
}

globalThis.signInTab = {
  async start(url) {
    server = url
    client = await connect(url, { name: 'app-sign-in', collections: ['projects', 'tasks'], live: false })
  },
  async register(collection, identity, password) {
    const { id } = await client.signIn.password(collection, identity, password)
    const path = `/api/collections/${collection}/records/${id}/passkeys`
    const options = await call(`${path}/options`, {})
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never)
    const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
    await call(path, { name: 'This device', response: made.toJSON() as unknown })
  },
  byPasskey: (collection) => client.signIn.passkey(collection).then(({ id }) => id, codeOf),
  byProvider: (collection, provider) =>
    client.signIn.oauth2(collection, provider).then(({ email }) => String(email), codeOf),
  signOut: () => client.signOut(),
  async state() {
    await client.sync().catch(() => {})
    return [client.account?.id ?? null, client.status.state]
  },
}
