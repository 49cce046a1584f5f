/** The subscribers that have logged in, by their accounts: an account that changes is another actor, or none. */
import type { AuthDefinition, Definition } from '../definitions/definition.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'
import type { Subscriber } from './subscriber.ts'

interface Accounts {
  /** The secret that signs their tokens, beside their own keys. */
  secret: string
  readonly byId: Map<string, Set<Subscriber>>
}

export class SignedIn {
  readonly #definitions: KnownDefinitions
  readonly #byCollection = new Map<string, Accounts>()
  #schema: unknown

  constructor(definitions: KnownDefinitions) {
    this.#definitions = definitions
  }

  /** Whether accounts of the collection have subscribed. */
  has({ id }: Definition): boolean {
    return this.#byCollection.has(id)
  }

  of({ id }: Pick<Definition, 'id'>, record: string): readonly Subscriber[] {
    return [...(this.#byCollection.get(id)?.byId.get(record) ?? [])]
  }

  add(subscriber: Subscriber): void {
    const { account } = subscriber.principal
    const definition = account && this.#definitions.find(account.collection)
    if (account === undefined || definition?.type !== 'auth') return
    const { secret } = definition.authToken
    const accounts = this.#byCollection.get(definition.id) ?? { secret, byId: new Map<string, Set<Subscriber>>() }
    this.#byCollection.set(definition.id, accounts)
    const id = String(account.record['_id'])
    const subscribers = accounts.byId.get(id) ?? new Set()
    accounts.byId.set(id, subscribers.add(subscriber))
  }

  remove(subscriber: Subscriber): void {
    const { account } = subscriber.principal
    const accounts = account && this.#byCollection.get(account.collection)
    if (account === undefined || accounts === undefined) return
    const id = String(account.record['_id'])
    const subscribers = accounts.byId.get(id)
    subscribers?.delete(subscriber)
    if (subscribers?.size === 0) accounts.byId.delete(id)
    if (accounts.byId.size === 0) this.#byCollection.delete(account.collection)
  }

  /** Subscribers whose tokens have ended with a change of definitions, since the last call. */
  ended(): readonly Subscriber[] {
    const { schema } = this.#definitions
    if (schema === this.#schema) return []
    this.#schema = schema
    return Array.from(this.#byCollection).flatMap(([collection, accounts]) => {
      const { authToken } = (this.#definitions.find(collection) ?? {}) as Partial<AuthDefinition>
      const isEnded = authToken?.secret !== accounts.secret
      const subscribers = [...accounts.byId.values()].flatMap((some) => [...some])
      // API tokens have no secret of the collection.
      return isEnded
        ? subscribers.filter(({ principal }) => authToken === undefined || principal.apiToken === undefined)
        : []
    })
  }
}

/** The principal when this is the record of its account. A new key has ended all its tokens, except for API tokens. */
export function principalAfter(principal: Principal, record: JsonObject | undefined): Principal {
  const { account, address, apiToken } = principal
  if (account === undefined) return principal
  const hasKey = apiToken !== undefined || record?.['tokenKey'] === account.record['tokenKey']
  if (record === undefined || !hasKey) return { ...GUEST, ...(address !== undefined && { address }) }
  return { ...principal, account: { ...account, record } }
}
