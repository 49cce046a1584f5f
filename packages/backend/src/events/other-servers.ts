/**
 * Clients of realtime at other servers of the fleet. A load balancer sends the requests of a client anywhere, and its stream is at one
 * server. The id of the client begins with that of its server, which is asked.
 */
import type { Definitions } from '../definitions/definitions.ts'
import { ID_CHARS, type Fleet, type Message } from '../fleet/fleet.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Account, Principal } from '../gateway/principal.ts'
import { missing, ServiceError } from '../gateway/service-error.ts'

interface OtherServersOptions {
  readonly fleet: Fleet
  readonly definitions: Definitions
  /** The part of this server that serves its own clients. */
  readonly own: {
    subscribe(principal: Principal, input: JsonObject): Promise<void>
    deliver(clientId: string, topic: string, data: object, options: DeliverOptions): boolean
    broadcast(name: string, data: object): void
    lookAgain(collection: string, record: string): Promise<void>
  }
}

export interface DeliverOptions {
  /** The address (`ip`) that the client must have. */
  readonly ip: string | undefined
  /** Whether the subscription ends with one message (`once`). */
  readonly once?: boolean
}

type ServerMessage =
  | { readonly kind: 'subscribe'; readonly principal: SentPrincipal; readonly input: JsonObject }
  | {
      readonly kind: 'deliver'
      readonly clientId: string
      readonly name: string
      readonly data: object
      readonly options: DeliverOptions
    }
  | { readonly kind: 'broadcast'; readonly name: string; readonly data: object }
  | { readonly kind: 'look'; readonly collection: string; readonly record: string }

/** A principal as JSON. Its record is read again where it arrives. */
interface SentPrincipal extends Omit<Principal, 'account' | 'apiToken'> {
  readonly account?: { readonly collection: string; readonly record: string }
  readonly apiToken?: { readonly id: string; readonly name: string; readonly scopes: readonly (readonly unknown[])[] }
}

interface SentError {
  readonly code: ServiceError['code']
  readonly message: string
  readonly data?: ServiceError['data']
  readonly retryAfterSeconds?: number
}

const TOPIC = 'realtime'

export class OtherServers {
  readonly #options: OtherServersOptions

  constructor(options: OtherServersOptions) {
    this.#options = options
    options.fleet.listen(TOPIC, (message) =>
      this.#answer((message as unknown as { readonly told: ServerMessage }).told),
    )
  }

  /** @throws ServiceError NOT_FOUND if no server has the client, and what `subscribe` of its server throws */
  async subscribe(principal: Principal, clientId: string, input: JsonObject): Promise<void> {
    const answer = await this.#ask(clientId, { kind: 'subscribe', principal: sent(principal), input })
    if (answer === undefined) throw missing('Missing or invalid client id.')
    const { error } = answer as { readonly error?: SentError }
    if (error === undefined) return
    const { code, message, data, retryAfterSeconds } = error
    throw new ServiceError(code, message, { ...(data && { data }), ...(retryAfterSeconds && { retryAfterSeconds }) })
  }

  /** Whether another server has the client, and the client has subscribed. */
  async deliver(clientId: string, name: string, data: object, options: DeliverOptions): Promise<boolean> {
    return (await this.#ask(clientId, { kind: 'deliver', clientId, name, data, options })) === true
  }

  broadcast(name: string, data: object): void {
    this.#tell({ kind: 'broadcast', name, data })
  }

  /** Asks all servers to check the streams of the account, whose tokens may have ended. */
  lookAgain({ collection, record }: Account): void {
    this.#tell({ kind: 'look', collection, record: String(record['_id']) })
  }

  #tell(told: ServerMessage): void {
    this.#options.fleet.tell({ topic: TOPIC, told })
  }

  async #ask(clientId: string, told: ServerMessage): Promise<unknown> {
    const { fleet } = this.#options
    const server = clientId.slice(0, ID_CHARS)
    if (fleet.id === '' || server === fleet.id) return undefined
    return fleet.ask(server, { topic: TOPIC, told } satisfies Message)
  }

  async #answer(told: ServerMessage): Promise<unknown> {
    const { own } = this.#options
    switch (told.kind) {
      case 'broadcast':
        return own.broadcast(told.name, told.data)
      case 'look':
        return own.lookAgain(told.collection, told.record)
      case 'deliver':
        return own.deliver(told.clientId, told.name, told.data, told.options)
      case 'subscribe':
        try {
          await own.subscribe(await this.#received(told.principal), told.input)
          return {}
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
          const { code, message, data, retryAfterSeconds } = error
          return { error: { code, message, data, retryAfterSeconds } }
        }
    }
  }

  /** @throws ServiceError UNAUTHENTICATED if the account is gone */
  async #received({ account, apiToken, ...principal }: SentPrincipal): Promise<Principal> {
    const scopes = apiToken && new Map(apiToken.scopes.map(([id, actions]) => [id, new Set(actions as string[])]))
    const token = apiToken && { apiToken: { ...apiToken, scopes } as NonNullable<Principal['apiToken']> }
    if (account === undefined) return { ...principal, ...token }
    const { definitions } = this.#options
    const definition = definitions.find(account.collection)
    const record = definition && (await definitions.records(definition).get(account.record))
    if (record === undefined) throw new ServiceError('UNAUTHENTICATED', '')
    return { ...principal, ...token, account: { collection: account.collection, record } }
  }
}

function sent({ account, apiToken, ...principal }: Principal): SentPrincipal {
  const scopes = apiToken && Array.from(apiToken.scopes, ([id, actions]) => [id, [...actions]])
  return {
    ...principal,
    ...(account && { account: { collection: account.collection, record: String(account.record['_id']) } }),
    ...(apiToken && { apiToken: { id: apiToken.id, name: apiToken.name, scopes: scopes! } }),
  }
}
