/** A page for sign-in.browser.ts: an app where its users sign in. */
import { connect, type Client, type UntypedCollections } from '../../src/index.ts'

export interface SignInTab {
  start(url: string): Promise<void>
  /** Signs in, and makes a passkey. Gives its name, or the code of the error. */
  register(collection: string, identity: string, password: string): Promise<string>
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

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code ?? error)

globalThis.signInTab = {
  async start(url) {
    client = await connect(url, { name: 'app-sign-in', collections: ['projects', 'tasks'], live: false })
  },
  async register(collection, identity, password) {
    await client.signIn.password(collection, identity, password)
    return await client.signIn.addPasskey('This device').then(({ name }) => name, codeOf)
  },
  byPasskey: (collection) => client.signIn.passkey(collection).then(({ id }) => id, codeOf),
  byProvider: (collection, provider) =>
    client.signIn.oauth2(collection, provider).then(({ email }) => String(email), codeOf),
  signOut: () => client.signOut(),
  async state() {
    await client.sync().catch(() => {})
    return [client.account?.id ?? null, client.state.status]
  },
}
