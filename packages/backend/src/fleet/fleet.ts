/**
 * The servers that share one database: which one works for all, what happens once, and what they say to one another.
 * docs/internals/servers.md is the contract.
 */
import type { Chance } from '../gateway/chance.ts'

/** A message from one server to another. JSON. */
export interface Message {
  /** Names the listener: 'realtime'. */
  readonly topic: string
  readonly [field: string]: unknown
}

/** Gives what is answered; undefined: nothing. */
type Listener = (message: Message) => unknown

/** A server among those that share its database. */
export interface Fleet {
  /** Names this server among the others. Letters and digits, `ID_CHARS` of them; empty: it is alone. */
  readonly id: string
  /** Whether this server does what one does for all: it sends mails, replicates and sweeps files. */
  readonly leads: boolean
  /** Is called when that changes. The result ends it. */
  subscribeLeads(listener: (leads: boolean) => void): () => void
  /** Whether others were there already when this one started, with the same data. */
  readonly joined: boolean
  /** True for one caller of all servers. What was claimed may be claimed again after an hour. */
  claim(what: string): Promise<boolean>
  /** 32 random bytes that all servers have, and no backup. */
  secret(name: string): Promise<Buffer>
  /** Runs `work` while no other server runs work of that name. One that is frozen for seconds loses its turn. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
  /** The answer of another server. Undefined: it is gone, or says nothing in time. */
  ask(server: string, message: Message): Promise<unknown>
  /** To all other servers. Nobody waits for them. */
  tell(message: Message): void
  /** Hears what is said or asked about a topic. */
  listen(topic: string, listener: Listener): void
  /** Aborted when it is closed, or of no use any more: then with PANNIER_RESTORED. */
  readonly ended: AbortSignal
  /** The other servers know that this one is gone. */
  close(): Promise<void>
}

/** The number of bytes of a secret. */
export const SECRET_BYTES = 32
/** The number of characters of a server's id. */
export const ID_CHARS = 8

/** A server whose database nobody else serves. */
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
