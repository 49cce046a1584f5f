/** A client that messages are sent to, while its channel is open. */
import type { Environment } from 'pannier/types'
import { randomText } from '../gateway/chance.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'
import type { Topic } from './topic.ts'

/** A message to a client. */
export interface RealtimeMessage {
  /** The text of the subscription. */
  readonly topic: string
  /** Several clients may be sent the same object. */
  readonly data: object
  /** For a client that can come back: names this message when it does. */
  readonly cursor?: string
}

/** A channel to a client. */
export interface Channel {
  /** The address of the client: requests from elsewhere may not speak of it. */
  readonly address: string | undefined
  /** Takes messages, in order. It returns at once, however slow the client is. */
  send(messages: readonly RealtimeMessage[]): void
  /** Ends the channel: nothing more will be sent. `retryMs`: when a client may come back to a server that starts again. */
  end(retryMs?: number): void
}

/** A message that hooks have still to make. */
export interface LateMessage {
  /** The text of the subscription. */
  readonly topic: string
  /** Bytes that are held until it is made, about. */
  bytes(): number
  /** Undefined: a hook has refused it. @throws if it can't be made: the client is cut off */
  make(): Promise<RealtimeMessage | undefined>
}

/** Runs code of the operator around messages. */
export interface MessageHooks {
  /** Without any, messages are sent at once. */
  areThere(): boolean
  around(subscriber: Subscriber, message: RealtimeMessage, send: (message: RealtimeMessage) => void): Promise<void>
}

/** The parts that all clients of a server share. */
export interface SubscriberHost {
  /** The prefix of the ids of its clients. */
  readonly server: string
  readonly environment: Environment
  hooks(): MessageHooks | undefined
  /** Bytes that wait for hooks, of all clients. */
  waitingBytes: number
  /** A client was cut off, as it can't be sent what is next. */
  cutOff(subscriber: Subscriber, error: unknown): void
}

/** A message that waits for those before it. */
interface Waiting {
  readonly message: RealtimeMessage | LateMessage
  readonly bytes: number
}

const ID_CHARS = 40
/** Bytes that wait for the hooks of a client, and of all clients. With more, a client that is behind is cut off. */
const WAITING_BYTES_MAX: number = 4 * 1024 * 1024
const ALL_WAITING_BYTES_MAX: number = 256 * 1024 * 1024
/** A message that waits takes that much beside its data. */
const MESSAGE_BYTES = 512

/** A subscriber: a client of realtime. Get it by `realtime.connect`. */
export class Subscriber {
  /** Random: those who know it, at the address of the client, may subscribe for it. */
  readonly id: string
  /** Whether it gets cursors, and may come back with one. */
  readonly canReturn: boolean
  /** The channel that takes the messages. */
  readonly channel: Channel
  /** The principal that has subscribed last. */
  principal: Principal = GUEST
  readonly #host: SubscriberHost
  #topics: ReadonlyMap<string, Topic> = new Map()
  #isGone = false
  /** Messages that wait until the repeated ones are sent. */
  #held: Waiting[] | undefined
  /** The hooks of the first one run, or will. */
  readonly #queue: Waiting[] = []
  #isWorking = false
  #bytes = 0

  /** @internal */
  constructor(channel: Channel, canReturn: boolean, host: SubscriberHost) {
    this.channel = channel
    this.canReturn = canReturn
    this.#host = host
    this.id = host.server + randomText(host.environment, ID_CHARS - host.server.length)
  }

  /** True after its channel has closed. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether the client is behind: messages wait for it. */
  get isBehind(): boolean {
    return this.#held !== undefined || this.#queue.length > 0
  }

  /** Topics by their texts. What waits for others is not sent. */
  get topics(): ReadonlyMap<string, Topic> {
    return this.#topics
  }

  set topics(topics: ReadonlyMap<string, Topic>) {
    const dropped = new Set([...this.#topics.keys()].filter((text) => !topics.has(text)))
    if (this.isBehind && dropped.size > 0) this.#drop(({ topic }) => dropped.has(topic))
    this.#topics = topics
  }

  /** Sends a message, after those that wait. */
  send(message: RealtimeMessage | LateMessage): void {
    if (this.#isGone) return
    if (this.#held === undefined) this.sendNow([message])
    else this.#wait(this.#held, message)
  }

  /** Holds messages until `sendBefore` has sent what comes before them. */
  async hold(sendBefore: () => Promise<void>): Promise<void> {
    const held: Waiting[] = []
    this.#held = held
    await sendBefore()
    this.#held = undefined
    for (const { bytes } of held) this.#take(-bytes)
    if (held.length > 0) this.sendNow(held.map(({ message }) => message))
  }

  /** @internal Sends messages before those that are held. Hooks run one after another: a slow one delays this client alone. */
  sendNow(messages: readonly (RealtimeMessage | LateMessage)[]): void {
    if (this.#isGone) return
    if (this.#queue.length === 0 && this.#host.hooks()?.areThere() !== true && messages.every(isMade))
      this.channel.send(messages)
    else for (const message of messages) this.#sendLater(message)
  }

  /** The client has gone: nothing waits for it any more. */
  leave(): void {
    this.#isGone = true
    this.#drop(() => true)
  }

  /** Ends the channel, as the next message can't be sent. A client that connects again misses nothing. */
  cutOff(error: unknown): void {
    if (this.#isGone) return
    this.leave()
    this.channel.end()
    this.#host.cutOff(this, error)
  }

  #sendLater(message: RealtimeMessage | LateMessage): void {
    this.#wait(this.#queue, message)
    if (!this.#isWorking) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let [next] = this.#queue; next !== undefined; [next] = this.#queue) {
      try {
        await this.#deliver(next)
      } catch (error) {
        this.cutOff(error)
      }
      // It may have been dropped meanwhile.
      if (this.#queue[0] === next) this.#take(-this.#queue.shift()!.bytes)
    }
    this.#isWorking = false
  }

  async #deliver(waiting: Waiting): Promise<void> {
    const { message } = waiting
    const isWanted = (): boolean => this.#queue[0] === waiting
    const made = isMade(message) ? message : await message.make()
    if (made === undefined || !isWanted()) return
    const send = (sent: RealtimeMessage): void => {
      if (isWanted()) this.channel.send([sent])
    }
    const hooks = this.#host.hooks()
    if (hooks?.areThere() !== true) send(made)
    // A message that a hook refuses is not sent; what it has thrown is logged.
    else await hooks.around(this, made, send).catch(() => {})
  }

  /** The first one may have any size. */
  #wait(line: Waiting[], message: RealtimeMessage | LateMessage): void {
    const bytes = line.length === 0 ? 0 : MESSAGE_BYTES + (isMade(message) ? bytesOf(message.data) : message.bytes())
    if (this.#bytes + bytes > WAITING_BYTES_MAX || this.#host.waitingBytes + bytes > ALL_WAITING_BYTES_MAX) {
      this.cutOff(new Error('Too many messages wait for onRecordEnrich or onRealtimeMessageSend.'))
      return
    }
    this.#take(bytes)
    line.push({ message, bytes })
  }

  #drop(isMeant: (message: RealtimeMessage | LateMessage) => boolean): void {
    const keep = (line: Waiting[]): void => {
      for (const { bytes } of line.filter(({ message }) => isMeant(message))) this.#take(-bytes)
      line.splice(0, line.length, ...line.filter(({ message }) => !isMeant(message)))
    }
    keep(this.#queue)
    if (this.#held !== undefined) keep(this.#held)
  }

  #take(bytes: number): void {
    this.#bytes += bytes
    this.#host.waitingBytes += bytes
  }
}

function isMade(message: RealtimeMessage | LateMessage): message is RealtimeMessage {
  return 'data' in message
}

/** Sizes by data: several clients get the same data. */
const sizes = new WeakMap<object, number>()

function bytesOf(data: object): number {
  const bytes = sizes.get(data) ?? JSON.stringify(data).length
  sizes.set(data, bytes)
  return bytes
}
