/** A device of a user: a client on storage that stays when it is closed. */
import { memory } from 'pannier/memory'
import { open, type DatabaseStorage } from 'pannier'
import { connect, type Client, type ConnectOptions, type UntypedCollections } from '../src/index.ts'
import { USER_PASSWORD, type AppServer, type User } from './app-server.ts'

export type AppClient = Client<UntypedCollections>

type App = Pick<AppServer, 'url' | 'environment'>

let devices = 0

export class Device {
  readonly name: string = `device-${devices++}`
  readonly app: App
  readonly storage: DatabaseStorage

  constructor(app: App, storage: DatabaseStorage = memory()) {
    this.app = app
    this.storage = storage
  }

  open(options: Partial<ConnectOptions> = {}): Promise<AppClient> {
    const { name, storage, app } = this
    return connect(app.url, {
      name,
      storage,
      environment: app.environment,
      collections: ['projects', 'tasks', 'reports'],
      live: false,
      ...options,
    })
  }

  /** All that is stored in one of its databases, which must be closed. */
  async documents(database: string): Promise<readonly object[]> {
    const db = await open(`${this.name}-${database}`, { storage: this.storage })
    const all = await Promise.all((await db.collections()).map((name) => db.collection(name).find().toArray()))
    await db.close()
    return all.flat()
  }

  async openAs({ email }: User, options: Partial<ConnectOptions> = {}): Promise<AppClient> {
    const client = await this.open(options)
    await client.signIn.password('users', email, USER_PASSWORD)
    return client
  }
}

/** What the app sees, by id, without what the library adds. */
export async function seen(client: AppClient, collection: string): Promise<Map<string, Record<string, unknown>>> {
  const records = await client.collection(collection).find().toArray()
  return new Map(records.map(({ _id, _rev, $rev: _serverRev, ...record }) => [String(_id), record]))
}
