/** A page for tabs.smoke.browser.ts and kills.browser.ts: an app in a tab, on the browser's own storage. */
import { connect, type Client, type ClientState, type UntypedCollections } from '../../src/index.ts'

export interface AppTab {
  /** The account that is signed in. */
  start(url: string): Promise<string | undefined>
  signIn(identity: string, password: string): Promise<void>
  create(title: string, project: string): Promise<void>
  titles(): Promise<readonly unknown[]>
  state(): Pick<ClientState, 'status' | 'unsent' | 'rejected'>
  /** Pulls that this tab has sent. */
  pulls(): number
}

declare global {
  var appTab: AppTab
}

let client: Client<UntypedCollections>

performance.setResourceTimingBufferSize(100_000)

globalThis.appTab = {
  async start(url) {
    client = await connect(url, { name: 'app-tabs', collections: { projects: {}, tasks: { indexes: ['title'] } } })
    return client.account?.id
  },
  signIn: async (identity, password) => {
    await client.signIn.password('users', identity, password)
  },
  create: async (title, project) => {
    await client.collection('tasks').create({ title, project })
  },
  titles: async () => {
    const tasks = await client.collection('tasks').find().sort('title').toArray()
    return tasks.map(({ title }) => title)
  },
  state: () => {
    const { status, unsent, rejected } = client.state
    return { status, unsent, rejected }
  },
  pulls: () => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/sync/pull')).length,
}
