/**
 * The servers that share one database: which one works for all, what happens once, and what they say to one another.
 * docs/internals/servers.md is the contract.
 */
import type { Chance } from '../gateway/chance.ts'

/** A message from one server to another. JSON. */
export interface Message {
  /** The topic names the listener: 'realtime'. */
  readonly topic: string
  readonly [field: string]: unknown
}

/** A listener of messages. Gives what is answered; undefined: nothing. */
type Listener = (message: Message) => unknown

/** A server among those that share its database. */
export interface Fleet {
  /** The id of this server among the others. Letters and digits, `ID_CHARS` of them; empty: it is alone. */
  readonly id: string
  /** Whether this server does what one does for all: it sends mails, replicates and sweeps files. */
  readonly leads: boolean
  /** Is called when that changes. The result ends it. */
  subscribeLeads(listener: (leads: boolean) => void): () => void
  /** Whether this server has joined others, which were there already with the same data. */
  readonly joined: boolean
  /** True for one caller of all servers. What was claimed may be claimed again after an hour. */
  claim(what: string): Promise<boolean>
  /** A secret of 32 random bytes that all servers have, and no backup. */
  secret(name: string): Promise<Buffer>
  /** Runs `work` while no other server runs work of that name. One that is frozen for seconds loses its turn. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
  /** The answer of another server. Undefined: it is gone, or says nothing in time. */
  ask(server: string, message: Message): Promise<unknown>
  /** Sends a message to all other servers. Nobody waits for them. */
  tell(message: Message): void
  /** Hears what is said or asked about a topic. */
  listen(topic: string, listener: Listener): void
  /** Aborted when it is closed, or of no use any more: then with PANNIER_RESTORED. */
  readonly ended: AbortSignal
  /** Closes it: the other servers know that this one is gone. */
  close(): Promise<void>
}

/** The number of bytes of a secret. */
export const SECRET_BYTES = 32
/** The number of characters of a server's id. */
export const ID_CHARS = 8

/** The fleet of a server whose database nobody else serves. */
export function aloneIn(chance: Chance): Fleet {
  return {
    id: '',
    leads: true,
    joined: false,
    subscribeLeads: () => () => {},
    claim: async () => true,
    secret: async () => Buffer.from(chance.randomBytes(SECRET_BYTES)),
    exclusively: (_name, work) => work(),
    ask: async () => undefined,
    tell() {},
    listen() {},
    ended: new AbortController().signal,
    close: async () => {},
  }
}
