/** What clients are told while they are connected: messages of the topics that they subscribe to. */
import { BLANK, outsideLength, tooLong } from '../fields/field-errors.ts'
import { isJsonObject, type JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, missing, ServiceError, type ErrorData } from '../gateway/service-error.ts'
import { Subscriber, type Channel } from './subscriber.ts'
import { topicOf } from './topic.ts'

const CLIENT_ID_BYTES_MAX = 255
const TOPICS_MAX = 1000
const TOPIC_BYTES_MAX = 2500

interface DeliverOptions {
  /** The client must have this address. */
  readonly ip: string | undefined
  /** The subscription ends with the message. */
  readonly once?: boolean
}

/** The clients that are connected. */
export class Realtime {
  readonly #subscribers = new Map<string, Subscriber>()

  /** How many clients are connected. */
  get size(): number {
    return this.#subscribers.size
  }

  /** A new client, without subscriptions. Call `disconnect` when its channel has closed. */
  connect(channel: Channel): Subscriber {
    const subscriber = new Subscriber(channel)
    this.#subscribers.set(subscriber.id, subscriber)
    return subscriber
  }

  /** The client has gone. */
  disconnect({ id }: Subscriber): void {
    this.#subscribers.delete(id)
  }

  /**
   * Replaces what a client is subscribed to. From now on it is the principal who is told. A guest may log in, and nobody may
   * become somebody else.
   *
   * @throws ServiceError INVALID with data, NOT_FOUND, FORBIDDEN
   */
  subscribe(principal: Principal, input: JsonObject): void {
    const { clientId, subscriptions } = subscriptionsIn(input)
    const subscriber = this.#subscribers.get(clientId)
    if (subscriber === undefined) throw missing('Missing or invalid client id.')
    if (subscriber.channel.address !== principal.address) throw invalid('Invalid realtime client.')
    if (!isGuest(subscriber.principal) && !isSame(subscriber.principal, principal))
      throw forbidden("The current and the previous request authorization don't match.")
    subscriber.principal = principal
    const texts = subscriptions.filter((text) => text !== '')
    subscriber.topics = new Map(texts.map((text) => [text, topicOf(text)]))
  }

  /** Sends a message to one client, if it has subscribed to the topic from that address. Says whether it has. */
  deliver(clientId: string, topic: string, data: object, { ip, once = false }: DeliverOptions): boolean {
    const subscriber = this.#subscribers.get(clientId)
    if (subscriber === undefined || subscriber.channel.address !== ip || !subscriber.topics.has(topic)) return false
    if (once) subscriber.topics = new Map(Array.from(subscriber.topics).filter(([text]) => text !== topic))
    subscriber.channel.send([{ topic, data }])
    return true
  }

  /** Ends all channels. */
  close(): void {
    for (const { channel } of this.#subscribers.values()) channel.end()
    this.#subscribers.clear()
  }
}

/** @throws ServiceError INVALID with data */
function subscriptionsIn({ clientId = '', subscriptions }: JsonObject): {
  readonly clientId: string
  readonly subscriptions: readonly string[]
} {
  const texts: readonly unknown[] = [subscriptions ?? []].flat()
  if (typeof clientId !== 'string' || isJsonObject(subscriptions) || !texts.every((text) => typeof text === 'string'))
    throw invalid('')
  const wrongId = clientId === '' ? BLANK : outsideLength(clientId, 1, CLIENT_ID_BYTES_MAX)
  const wrongTopics = texts.length > TOPICS_MAX ? tooLong(TOPICS_MAX) : longTexts(texts)
  if (wrongId !== undefined || wrongTopics !== undefined) {
    const data = { ...(wrongId && { clientId: wrongId }), ...(wrongTopics && { subscriptions: wrongTopics }) }
    throw new ServiceError('INVALID', '', { data })
  }
  return { clientId, subscriptions: texts }
}

function longTexts(texts: readonly string[]): ErrorData | undefined {
  const long = [...texts.keys()].filter((at) => Buffer.byteLength(texts[at]!) > TOPIC_BYTES_MAX)
  return long.length === 0 ? undefined : Object.fromEntries(long.map((at) => [at, tooLong(TOPIC_BYTES_MAX)]))
}

function isGuest({ account, isAdmin }: Principal): boolean {
  return account === undefined && !isAdmin
}

function isSame(one: Principal, other: Principal): boolean {
  return (
    one.name === other.name &&
    one.account?.collection === other.account?.collection &&
    one.account?.record['_id'] === other.account?.record['_id']
  )
}
