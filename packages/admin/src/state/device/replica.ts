/** The replica of a superuser on this device, by the client of apps. It is loaded when a collection is kept. */
import { ClientError, connect } from '@pannier/client'
import type { Client, ClientState, RejectedWrite, UntypedCollections, UnsentWrite, Write } from '@pannier/client'
import type { Environment } from '../../environment.ts'
import type { Login } from '../../api/accounts.ts'
import { ApiError, apiUrl } from '../../api/request.ts'
import type { ListQuery, Row, RowPage, Values } from '../../api/records.ts'
import { collections, findCollection } from '../collections.ts'
import { isServerThere } from '../session.ts'
import { DEVICE } from '../../texts/device.ts'
import { LocalLists, type KeptNames } from './local-list.ts'
import { DEVICE_REV, shownRow } from './local-row.ts'

export type ReplicaState = ClientState

/** How much of a collection is here. */
export interface KeptSize {
  readonly records: number
  /** Undefined: not known yet. */
  readonly bytes: number | undefined
}

/** How long a form waits for the answer to a write, while the server is there. */
const ANSWER_MS_MAX = 15_000
const ID_PATTERN = '[a-z0-9]{15}'
const ID_CHARS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const SUPERUSERS = '_superusers'

/** `onProgress`: how many records a list has read until now. @throws ClientError PANNIER_PEER_UNREACHABLE: it was never open here, and the server is away */
export async function openReplica(
  environment: Environment,
  names: KeptNames,
  login: Login,
  onState: (state: ReplicaState) => void,
  onProgress: (read: number | undefined) => void,
): Promise<Replica> {
  const declared = Object.fromEntries(
    Object.entries(names).map(([name, filter]) => [name, filter === '' ? {} : { filter }]),
  ) as Readonly<Record<string, object>>
  await beAccount(declared, login)
  const client = await connectTo(declared, true)
  return new Replica(environment, client, names, login, onState, onProgress)
}

/** A client that syncs as soon as it is open would ask as a guest, or as the superuser who was here last. */
async function beAccount(declared: Readonly<Record<string, object>>, login: Login): Promise<void> {
  const client = await connectTo(declared, false)
  try {
    const { collectionName, id } = client.account ?? {}
    if (collectionName !== SUPERUSERS || id !== login.record.id) await client.signIn.token(SUPERUSERS, login.token)
  } finally {
    await client.close()
  }
}

interface Wiped {
  /** The superuser whose records these are. */
  readonly account: string
  /** Names of the kept collections. */
  readonly names: readonly string[]
  /** True to discard writes that wait. */
  readonly discard: boolean
}

/** Deletes the records of the superuser who was here last, unless writes wait and are to be kept. Gives whether it did. */
export async function wipeKept({ account, names, discard }: Wiped): Promise<boolean> {
  const client = await connectTo(Object.fromEntries(names.map((name) => [name, {}])), false)
  try {
    const { unsent, rejected, account: last } = client.state
    if (last?.id !== account || (!discard && unsent + rejected > 0)) return false
    await client.signOut({ data: 'wipe', discard: true })
    return true
  } finally {
    await client.close()
  }
}

/** Another server below another path of the origin has databases of its own. */
function connectTo(declared: Readonly<Record<string, object>>, live: boolean): Promise<Client<UntypedCollections>> {
  const url = apiUrl('').replace(/\/api$/, '')
  const name = `pannier-admin${new URL(url).pathname.replaceAll('/', '-')}`
  return connect(url, { name, collections: declared, live })
}

export class Replica {
  readonly names: readonly string[]
  private readonly environment: Environment
  private readonly client: Client<UntypedCollections>
  private readonly lists: LocalLists
  private login: Login
  private readonly stop: () => void
  /** The token that the client was last given. */
  private givenToken = ''

  constructor(
    environment: Environment,
    client: Client<UntypedCollections>,
    names: KeptNames,
    login: Login,
    onState: (state: ReplicaState) => void,
    onProgress: (read: number | undefined) => void,
  ) {
    this.environment = environment
    this.client = client
    this.names = Object.keys(names)
    this.login = login
    this.stop = client.subscribeState((state) => {
      onState(state)
      if (state.status === 'signedOut') void this.giveToken().catch(() => undefined)
    })
    this.lists = new LocalLists(environment, client, names, onProgress)
  }

  get state(): ReplicaState {
    return this.client.state
  }

  /** The superuser has another token: a session that has ended here continues by it. */
  async renew(login: Login): Promise<void> {
    this.login = login
    if (this.state.status === 'signedOut') await this.giveToken().catch(() => undefined)
  }

  sync(): Promise<void> {
    return this.client.sync()
  }

  /** Calls back when lists may be others. Returns what ends it. */
  follow(listener: () => void): () => void {
    return this.lists.follow(listener)
  }

  /** @throws ApiError 400: the filter can't be answered here */
  list(collection: string, query: ListQuery, signal?: AbortSignal): Promise<RowPage> {
    return this.lists.page(collection, query, signal)
  }

  /** @throws ApiError 404 */
  async view(collection: string, id: string): Promise<Row> {
    const found = await this.client.collection(collection).get(id)
    if (found === undefined) throw new ApiError(404, '')
    return shownRow(found)
  }

  /** Undefined: the collection has ids of another form, and the server makes them. */
  newId(collection: string): string | undefined {
    const { fields = [] } = findCollection(collections.get().list, collection) ?? {}
    if (fields.find(({ primaryKey }) => primaryKey === true)?.autogeneratePattern !== ID_PATTERN) return undefined
    const bytes = this.environment.randomBytes(15)
    return Array.from(bytes, (byte) => ID_CHARS[byte % ID_CHARS.length]).join('')
  }

  create(collection: string, values: Values): Promise<Row> {
    this.checkValues(collection, values)
    const write = this.client.collection(collection).create(values)
    return this.answered(write, async () => shownRow(await write))
  }

  /** `rev`: what the form has loaded, from the device or from the server. @throws ApiError 409: it is another one now */
  update(collection: string, id: string, values: Values, rev?: string): Promise<Row> {
    this.checkValues(collection, values)
    const write = this.client.transaction(async (tx) => {
      const records = tx.collection(collection)
      await check(() => records.get(id), rev)
      return records.update(id, values)
    })
    return this.answered(write, () => this.view(collection, id))
  }

  async delete(collection: string, id: string): Promise<void> {
    const write = this.client.collection(collection).delete(id)
    await this.answered(write, () => write)
  }

  waiting(): Promise<readonly UnsentWrite[]> {
    return this.client.unsent()
  }

  rejected(): Promise<readonly RejectedWrite[]> {
    return this.client.rejected()
  }

  async sizeOf(collection: string): Promise<KeptSize> {
    const { documents, storedBytes } = await this.client.collection(collection).info()
    return { records: documents, bytes: storedBytes }
  }

  async close(): Promise<void> {
    this.stop()
    await this.client.close()
  }

  private async giveToken(): Promise<void> {
    const { token } = this.login
    if (token === this.givenToken) return
    await this.client.signIn.token(SUPERUSERS, token)
    this.givenToken = token
  }

  /** Refuses values that may not wait here. They are stored as they are: a password would be readable on the disk. */
  private checkValues(collection: string, values: Values): void {
    const { fields = [] } = findCollection(collections.get().list, collection) ?? {}
    // Only hashes have a cost.
    const field = fields.find(({ cost, name }) => cost !== undefined && values[name] !== undefined)
    if (field === undefined) return
    const message = DEVICE.away.password
    throw new ApiError(400, message, { data: { [field.name]: { code: 'away', message } } })
  }

  /** While the server is there, its answer is that of the form. Else the write waits, and this device has it. */
  private async answered<T>(write: Write<unknown>, result: () => PromiseLike<T>): Promise<T> {
    await write.then(undefined, (error: unknown) => {
      if (error instanceof ClientError && error.code === 'PANNIER_NOT_FOUND') throw new ApiError(404, '')
      if (error instanceof ClientError && error.code === 'PANNIER_CONFLICT') throw new ApiError(400, error.message)
      throw error
    })
    if (!isServerThere.get()) return result()
    const away = Promise.withResolvers<undefined>()
    const stop = isServerThere.follow(() => isServerThere.get() || away.resolve(undefined))
    const cancel = this.environment.after(ANSWER_MS_MAX, () => away.resolve(undefined))
    const answer = await Promise.race([write.server, away.promise])
    stop()
    cancel()
    if (answer?.status !== 'rejected') return result()
    const { code, message, data } = answer.rejected
    await answer.rejected.discard()
    throw new ApiError(Object.hasOwn(STATUS, code) ? STATUS[code]! : 400, message, { data })
  }
}

const STATUS: Readonly<Record<string, number>> = { CONFLICT: 409, NOT_FOUND: 404, FORBIDDEN: 403 }

/** @throws ApiError 404, 409 */
async function check(get: () => Promise<Readonly<Record<string, unknown>> | undefined>, rev?: string): Promise<void> {
  const now = await get()
  if (now === undefined) throw new ApiError(404, '')
  if (rev === undefined) return
  const isSame = rev.startsWith(DEVICE_REV) ? rev === `${DEVICE_REV}${String(now['_rev'])}` : rev === now['$rev']
  if (!isSame) throw new ApiError(409, '')
}
