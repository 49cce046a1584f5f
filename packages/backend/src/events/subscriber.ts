/** A client that messages are sent to. */
import { randomText } from '../definitions/scaffolds.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'
import type { Topic } from './topic.ts'

/** What a client is sent. */
export interface RealtimeMessage {
  /** The text of the subscription. */
  readonly topic: string
  /** Several clients may be sent the same object. */
  readonly data: object
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

/** A client, while its channel is open. Get it by `realtime.connect`. */
export class Subscriber {
  /** Random: who knows it, and has the address, may subscribe for the client. */
  readonly id: string = randomText(ID_CHARS)
  readonly channel: Channel
  /** Who has subscribed last. */
  principal: Principal = GUEST
  /** By their texts. */
  topics: ReadonlyMap<string, Topic> = new Map()

  /** @internal */
  constructor(channel: Channel) {
    this.channel = channel
  }
}
