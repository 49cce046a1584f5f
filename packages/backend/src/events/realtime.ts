/**
 * Sends messages to the clients that are connected: changes of records, and what comes for other topics.
 * docs/internals/realtime.md is the contract.
 */
import type { Fleet } from '../fleet/fleet.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { errorText, LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import { GUEST, type Account, type Principal } from '../gateway/principal.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import { networkOf, Shares } from '../gateway/shares.ts'
import type { RecordChange } from './record-changes.ts'
import { RowBudgets } from './row-budgets.ts'
import { principalAfter, SignedIn } from './signed-in.ts'
import { Subscriber, type Channel, type MessageHooks, type SubscriberHost } from './subscriber.ts'
import { actorKey } from './subscription-groups.ts'
import { Notifier, type NotifierOptions } from './notifier.ts'
import { OtherServers, type DeliverOptions } from './other-servers.ts'
import { subscriptionsIn, topicErrors, topicsOf, type Topic } from './topic.ts'

interface RealtimeOptions extends NotifierOptions {
  readonly fleet: Fleet
  readonly logs: LogWriter
  readonly principals: {
    /** Whether what the principal is known by is no longer valid. */
    hasEnded(principal: Principal): Promise<boolean>
  }
}

/** The message of a client that can come back, when it connects. */
interface ReturningClient {
  readonly principal: Principal
  /** The topics of its subscriptions. */
  readonly topics: readonly string[]
  /** The cursor of the last message that it has got; undefined: it is new. */
  readonly after: string | undefined
}

/** Superusers that subscribe to it get a message after each change of a definition. */
const DEFINITIONS_TOPIC = '@collections'

/** Characters of all topics at a time, and of those of one client. */
const CHARS = { allMax: 64 * 1024 * 1024, shareMax: 4 * 1024 * 1024 }

/** The time until a client tries again (`retry`). A server that was ended by a signal is mostly there again by then. */
const RETRY_MS = 1000

/** Realtime: the clients that are connected, and what they are sent. */
export class Realtime {
  readonly #options: RealtimeOptions
  readonly #notifier: Notifier
  readonly #signedIn: SignedIn
  readonly #budgets: RowBudgets
  readonly #host: SubscriberHost
  readonly #others: OtherServers
  readonly #subscribers = new Map<string, Subscriber>()
  /** How many of them can come back. */
  #returning = 0
  readonly #chars = new Shares(CHARS)
  /** @internal */
  messageHooks: MessageHooks | undefined
  /** Accounts that have subscribed, as the step changes them whose messages are being sent. */
  readonly #changes: RecordChange[] = []

  /** @internal */
  constructor(options: RealtimeOptions) {
    this.#options = options
    this.#signedIn = new SignedIn(options.definitions)
    this.#budgets = new RowBudgets(() => options.environment.now())
    this.#host = {
      server: options.fleet.id,
      environment: options.environment,
      hooks: () => this.messageHooks,
      waitingBytes: 0,
      cutOff: (subscriber, error) => this.#logCutOff(subscriber, error),
    }
    this.#notifier = new Notifier(options, {
      beforeStep: () => this.#endTokens(),
      watches: (definition) => this.#signedIn.has(definition),
      changed: (change) => {
        if (this.#signedIn.of(change.definition, change.id).length > 0) this.#changes.push(change)
      },
      deletesSent: () => this.#followAccounts(),
      spent: (subscriber, topic, rows) => this.#spend(subscriber, topic, rows),
      failed: (error) => this.#fail(error),
    })
    // At each server, as each hears of the change.
    options.definitions.subscribe(() => this.#broadcastHere(DEFINITIONS_TOPIC, {}, ({ isAdmin }) => isAdmin))
    this.#others = new OtherServers({
      ...options,
      own: {
        subscribe: (principal, input) => this.#subscribeHere(principal, input),
        deliver: (clientId, topic, data, how) => this.deliver(clientId, topic, data, how),
        broadcast: (name, data) => this.#broadcastHere(name, data),
        lookAgain: (collection, record) => this.#lookAgainAt(collection, record),
      },
    })
  }

  /** The size: how many clients are connected. */
  get size(): number {
    return this.#subscribers.size
  }

  /** The client of this id, while it is connected. */
  subscriber(clientId: string): Subscriber | undefined {
    return this.#subscribers.get(clientId)
  }

  /** A new client, without subscriptions. Call `disconnect` when its channel has closed. */
  connect(channel: Channel): Subscriber {
    const subscriber = new Subscriber(channel, false, this.#host)
    this.#subscribers.set(subscriber.id, subscriber)
    return subscriber
  }

  /**
   * A client that gets cursors with its messages. It is sent what came after the one that it names. `begin` is called before anything
   * is sent, with the cursor of the beginning; with `isResumed` false if not all is known that came after.
   *
   * @throws ServiceError INVALID with data, UNAVAILABLE, TOO_MANY_REQUESTS
   */
  async connectAgain(
    channel: Channel,
    { principal, topics: texts, after }: ReturningClient,
    begin: (subscriber: Subscriber, cursor: string, isResumed: boolean) => void,
  ): Promise<void> {
    const wrong = topicErrors(texts)
    if (wrong !== undefined) throw new ServiceError('INVALID', '', { data: { topic: wrong } })
    const topics = topicsOf(texts)
    const present = await this.#present(principal)
    this.#assertFree(present, channel.address)
    const subscriber = new Subscriber(channel, true, this.#host)
    this.#takeRoom(subscriber, topics)
    const { newest } = this.#notifier
    const continuation = after === undefined ? undefined : this.#notifier.continuation(after)
    this.#returning++
    this.#notifier.keepForReturn(true)
    this.#subscribers.set(subscriber.id, subscriber)
    this.#replace(subscriber, present, topics)
    const isResumed = continuation !== undefined
    begin(subscriber, isResumed ? after! : this.#notifier.cursorAt(newest), isResumed)
    if (isResumed) this.#notifier.repeat(subscriber, continuation, newest)
    await this.#lookAgain(subscriber)
  }

  /** Disconnects a subscriber: the client has gone. */
  disconnect(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber.id)) return
    subscriber.leave()
    this.#takeRoom(subscriber, new Map())
    this.#replace(subscriber, GUEST, new Map())
    if (subscriber.canReturn && --this.#returning === 0) this.#notifier.keepForReturn(false)
    this.#notifier.rest()
  }

  /**
   * Replaces what a client is subscribed to. From now on it gets what the principal may see. A guest may log in. Nobody may
   * become somebody else.
   *
   * @throws ServiceError INVALID with data, NOT_FOUND, FORBIDDEN, UNAVAILABLE, TOO_MANY_REQUESTS
   */
  async subscribe(principal: Principal, input: JsonObject): Promise<void> {
    const { clientId } = subscriptionsIn(input)
    if (this.#subscribers.has(clientId)) return this.#subscribeHere(principal, input)
    await this.#others.subscribe(principal, clientId, input)
  }

  async #subscribeHere(principal: Principal, input: JsonObject): Promise<void> {
    const { clientId, topics } = subscriptionsIn(input)
    const subscriber = this.#subscribers.get(clientId)
    if (subscriber === undefined) throw missing('Missing or invalid client id.')
    if (subscriber.channel.address !== principal.address) throw invalid('Invalid realtime client.')
    // Its token may have ended a moment ago.
    if (!mayBecome(subscriber.principal, principal)) await this.#lookAgain(subscriber)
    if (!mayBecome(subscriber.principal, principal))
      throw forbidden("The current and the previous request authorization don't match.")
    // It has gone meanwhile.
    if (!this.#subscribers.has(clientId)) throw missing('Missing or invalid client id.')
    if (topics.size > 0) this.#assertFree(principal, principal.address)
    this.#takeRoom(subscriber, topics)
    this.#endTokens()
    this.#replace(subscriber, principal, topics)
    this.#notifier.rest()
    await this.#lookAgain(subscriber)
  }

  /** As `deliver`, to a client of any server. */
  async deliverAnywhere(clientId: string, topic: string, data: object, options: DeliverOptions): Promise<boolean> {
    if (this.#subscribers.has(clientId)) return this.deliver(clientId, topic, data, options)
    return this.#others.deliver(clientId, topic, data, options)
  }

  /** Sends a message to one client of this server, if it has subscribed to the topic from that address. Says whether it has. */
  deliver(clientId: string, topic: string, data: object, { ip, once = false }: DeliverOptions): boolean {
    const subscriber = this.#subscribers.get(clientId)
    if (subscriber === undefined || subscriber.channel.address !== ip || !subscriber.topics.has(topic)) return false
    if (once) {
      const topics = new Map(Array.from(subscriber.topics).filter(([text]) => text !== topic))
      this.#takeRoom(subscriber, topics)
      this.#replace(subscriber, subscriber.principal, topics)
    }
    subscriber.send({ topic, data })
    return true
  }

  /** Sends a message to all that have subscribed to a topic of this name, with any options, at any server. */
  broadcast(name: string, data: object): void {
    this.#broadcastHere(name, data)
    this.#others.broadcast(name, data)
  }

  /** `isFor`: to those principals alone. */
  #broadcastHere(name: string, data: object, isFor: (principal: Principal) => boolean = () => true): void {
    for (const { topic, members } of this.#notifier.groups.named(name))
      for (const subscriber of members.keys())
        if (isFor(subscriber.principal)) subscriber.send({ topic: topic.text, data })
  }

  /** A session or an API token of the account has ended. Its streams are those of guests when this resolves. */
  async sessionEnded(account: Account): Promise<void> {
    this.#others.lookAgain(account)
    await this.#lookAgainAt(account.collection, String(account.record['_id']))
  }

  async #lookAgainAt(collection: string, record: string): Promise<void> {
    await Promise.all(this.#signedIn.of({ id: collection }, record).map((one) => this.#lookAgain(one)))
  }

  /** Ends all channels. Resolves when nothing is sent any more. */
  async close(): Promise<void> {
    for (const { channel } of this.#subscribers.values()) channel.end(RETRY_MS)
    await this.#notifier.close()
  }

  /** Subscriptions that stay miss no commit. */
  #replace(subscriber: Subscriber, principal: Principal, topics: ReadonlyMap<string, Topic>): void {
    const { topics: old, principal: before } = subscriber
    const isOther = actorKey(before) !== actorKey(principal)
    if (subscriber.isBehind && !mayBecome(before, principal))
      subscriber.cutOff(new Error('Its account was signed out.'))
    const told = new Map<string, number | undefined>()
    for (const [text, topic] of old)
      if (isOther || !topics.has(text)) told.set(text, this.#notifier.leave(subscriber, topic, before))
    this.#signedIn.remove(subscriber)
    subscriber.principal = principal
    subscriber.topics = topics
    this.#signedIn.add(subscriber)
    if (topics.size === 0) return
    const { newest } = this.#notifier
    for (const [text, topic] of topics)
      if (isOther || !old.has(text))
        this.#notifier.join(subscriber, topic, told.get(text) ?? newest, told.has(text) ? before : undefined)
  }

  /** The account may have changed after the request for it was read. */
  async #lookAgain(subscriber: Subscriber): Promise<void> {
    const { principal } = subscriber
    const present = await this.#present(principal)
    if (present !== principal && subscriber.principal === principal)
      this.#replace(subscriber, present, subscriber.topics)
  }

  /** The principal with the account as it is now. */
  async #present(principal: Principal): Promise<Principal> {
    const { account } = principal
    if (account === undefined) return principal
    const { definitions } = this.#options
    const definition = definitions.find(account.collection)
    const record = definition && (await definitions.records(definition).get(String(account.record['_id'])))
    if (await this.#options.principals.hasEnded(principal)) return principalAfter(principal, undefined)
    return record?.['_rev'] === account.record['_rev'] ? principal : principalAfter(principal, record)
  }

  #followAccounts(): void {
    for (const { definition, id, document } of this.#changes.splice(0))
      for (const subscriber of this.#signedIn.of(definition, id))
        this.#replace(subscriber, principalAfter(subscriber.principal, document), subscriber.topics)
  }

  #endTokens(): void {
    for (const subscriber of this.#signedIn.ended())
      this.#replace(subscriber, principalAfter(subscriber.principal, undefined), subscriber.topics)
  }

  /** A client whose subscriptions cost too much is cut off: it may load what it shows. */
  #spend(subscriber: Subscriber, { text }: Topic, rows: number): void {
    const { principal, channel } = subscriber
    if (subscriber.isGone || principal.isAdmin) return
    const payer = payerOf(principal, channel.address)
    if (this.#budgets.spend(payer, rows)) return
    this.disconnect(subscriber)
    channel.end()
    const message = 'A client was disconnected, as the rules and filters of its subscriptions try too many rows.'
    this.#options.logs.write({ level: LOG_LEVELS.warn, message, data: { client: payer, topic: text } })
  }

  /** @throws ServiceError TOO_MANY_REQUESTS */
  #assertFree(principal: Principal, address: string | undefined): void {
    const retryAfterSeconds = this.#budgets.secondsUntilFree(payerOf(principal, address))
    if (retryAfterSeconds === 0 || principal.isAdmin) return
    const message = 'The subscriptions try too many rows. Subscribe with filters that read fewer related records.'
    throw new ServiceError('TOO_MANY_REQUESTS', message, { retryAfterSeconds })
  }

  /** The share is that of the address, which a client keeps. @throws ServiceError UNAVAILABLE, TOO_MANY_REQUESTS */
  #takeRoom({ topics, channel }: Subscriber, next: ReadonlyMap<string, Topic>): void {
    const clients = [networkOf(channel.address ?? '')]
    const more = charsOf(next) - charsOf(topics)
    const exceeded = more > 0 ? this.#chars.exceededBy(clients, more) : undefined
    if (exceeded === 'share')
      throw new ServiceError('TOO_MANY_REQUESTS', 'One client subscribes to too many topics. Subscribe to fewer.')
    if (exceeded === 'all') throw new ServiceError('UNAVAILABLE', 'Too many topics are subscribed to. Try again later.')
    this.#chars.add(clients, more)
  }

  #logCutOff({ principal, channel }: Subscriber, error: unknown): void {
    const message = "A client was disconnected, as messages that waited for it can't be sent."
    const data = { client: payerOf(principal, channel.address), error: errorText(error) }
    this.#options.logs.write({ level: LOG_LEVELS.warn, message, data })
  }

  /** Ends the streams of all subscribers. They connect again, and load what they show. */
  #fail(error: unknown): void {
    for (const { channel, topics } of this.#subscribers.values()) if (topics.size > 0) channel.end()
    const message = 'Clients were disconnected, as the messages about a commit could not be sent.'
    this.#options.logs.write({ level: LOG_LEVELS.error, message, data: { error: errorText(error) } })
  }
}

/** Guests of one address are one. */
function payerOf({ account }: Principal, address: string | undefined): string {
  return account === undefined ? `guest at ${address}` : `${account.collection} ${String(account.record['_id'])}`
}

function charsOf(topics: ReadonlyMap<string, Topic>): number {
  let chars = 0
  for (const text of topics.keys()) chars += text.length
  return chars
}

function mayBecome(principal: Principal, next: Principal): boolean {
  const isGuest = principal.account === undefined && !principal.isAdmin
  return (
    isGuest ||
    (principal.name === next.name &&
      principal.account?.collection === next.account?.collection &&
      principal.account?.record['_id'] === next.account?.record['_id'])
  )
}
