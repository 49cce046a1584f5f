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
  /** Nothing more will be sent. */
  end(): void
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

  /** @internal */
  constructor(channel: Channel, canReturn: boolean) {
    this.channel = channel
    this.canReturn = canReturn
  }

  /** Sends a message, after those that are held. */
  send(message: RealtimeMessage): void {
    if (this.isGone) return
    if (this.#held === undefined) this.channel.send([message])
    else if (this.#held.length < HELD_MAX) this.#held.push(message)
    else this.channel.end()
  }

  /** Holds messages until `sendBefore` has sent what comes before them. */
  async hold(sendBefore: () => Promise<void>): Promise<void> {
    this.#held = []
    await sendBefore()
    const held = this.#held
    this.#held = undefined
    if (held.length > 0 && !this.isGone) this.channel.send(held)
  }
}
