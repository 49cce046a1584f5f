/** A client that messages are sent to, while its channel is open. */
import { randomText } from '../definitions/scaffolds.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'
import type { Topic } from './topic.ts'

/** What a client is sent. */
export interface RealtimeMessage {
  /** The text of the subscription. */
  readonly topic: string
  /** Several clients may be sent the same object. */
  readonly data: object
  /** For a client that can come back: names this message when it does. */
  readonly cursor?: string
}

/** The way to a client. */
export interface Channel {
  /** Whose address the client has: nobody else's requests may speak of it. */
  readonly address: string | undefined
  /** Takes messages, in order. It returns at once, however slow the client is. */
  send(messages: readonly RealtimeMessage[]): void
  /** Nothing more will be sent. `retryMs`: when a client may come back to a server that starts again. */
  end(retryMs?: number): void
}

/** Runs code of the operator around messages. */
export interface MessageHooks {
  /** Without any, messages are sent at once. */
  areThere(): boolean
  around(subscriber: Subscriber, message: RealtimeMessage, send: (message: RealtimeMessage) => void): Promise<void>
}

const ID_CHARS = 40
/** Messages that wait for what came before them. */
const HELD_MAX = 10_000

/** A client. Get it by `realtime.connect`. */
export class Subscriber {
  /** Random: those who know it, at the address of the client, may subscribe for it. */
  readonly id: string = randomText(ID_CHARS)
  /** Whether it gets cursors, and may come back with one. */
  readonly canReturn: boolean
  /** What takes the messages. */
  readonly channel: Channel
  /** The principal that has subscribed last. */
  principal: Principal = GUEST
  /** Its channel has closed. */
  isGone = false
  /** By their texts. */
  topics: ReadonlyMap<string, Topic> = new Map()
  /** What comes after that which is being sent again. */
  #held: RealtimeMessage[] | undefined
  readonly #hooks: () => MessageHooks | undefined
  /** Messages whose hooks run, or wait for those before them. */
  #waiting = 0
  #last: Promise<void> = Promise.resolve()

  /** @internal */
  constructor(channel: Channel, canReturn: boolean, hooks: () => MessageHooks | undefined) {
    this.channel = channel
    this.canReturn = canReturn
    this.#hooks = hooks
  }

  /** Sends a message, after those that are held. */
  send(message: RealtimeMessage): void {
    if (this.isGone) return
    if (this.#held === undefined) this.sendNow([message])
    else if (this.#held.length < HELD_MAX) this.#held.push(message)
    else this.channel.end()
  }

  /** Holds messages until `sendBefore` has sent what comes before them. */
  async hold(sendBefore: () => Promise<void>): Promise<void> {
    this.#held = []
    await sendBefore()
    const held = this.#held
    this.#held = undefined
    if (held.length > 0 && !this.isGone) this.sendNow(held)
  }

  /** @internal Sends messages before those that are held. Hooks run one after another: a slow one delays this client alone. */
  sendNow(messages: readonly RealtimeMessage[]): void {
    const hooks = this.#hooks()
    if (this.#waiting === 0 && hooks?.areThere() !== true) {
      this.channel.send(messages)
      return
    }
    for (const message of messages) this.#sendLater(message, hooks)
  }

  #sendLater(message: RealtimeMessage, hooks: MessageHooks | undefined): void {
    if (this.#waiting++ === HELD_MAX) this.channel.end()
    const send = (made: RealtimeMessage): void => {
      if (!this.isGone) this.channel.send([made])
    }
    const run = async (): Promise<void> => {
      if (!this.isGone && this.#waiting <= HELD_MAX) await hooks?.around(this, message, send)
    }
    // A message that a hook refuses is not sent; what it has thrown is logged.
    this.#last = this.#last
      .then(run)
      .catch(() => {})
      .finally(() => this.#waiting--)
  }
}
