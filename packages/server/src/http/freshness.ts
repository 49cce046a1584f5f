/**
 * How new the state is that a request is answered from, where several servers share a database. A server hears of what others commit a
 * moment later. So a request that may change something looks first: it costs one statement, shared by all that wait. A read does not look,
 * unless its client says which commit it has seen.
 */
import type { FastifyInstance } from 'fastify'
import type { Database } from 'pannier'
import { endOf, listenersHaveHeard, newestCommit } from 'pannier/internal'

/** The newest commit of the state that an answer was made from. A client that sends it back gets nothing older, at any server. */
const SEQUENCE_HEADER = 'pannier-sequence'
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Keeps answers fresh. Register it before authentication. `settled`: resolves when what the server keeps in memory is of the state that it has seen. */
export function keepFresh(app: FastifyInstance, database: Database, settled: () => Promise<void>): void {
  const freshness = new Freshness(database)
  app.addHook('onRequest', async (request) => {
    if (endOf(database).aborted) return
    const seen = request.headers[SEQUENCE_HEADER]
    const isRead = READS.has(request.method)
    if (isRead && seen === undefined) return
    if (!isRead || Number(seen) > freshness.sequence) await freshness.look()
    await listenersHaveHeard(database)
    await settled()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!endOf(database).aborted) reply.header(SEQUENCE_HEADER, freshness.sequence)
    done(null, payload)
  })
}

class Freshness {
  readonly #database: Database
  #looking: Promise<void> | undefined
  /** The next look, which waits for the one under way. Calls that come meanwhile share it. */
  #next: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  get sequence(): number {
    return newestCommit(this.#database)
  }

  /** Looks again. Resolves with all that was committed anywhere before the call. */
  look(): Promise<void> {
    if (this.#looking === undefined) return this.#begin()
    this.#next ??= this.#looking.catch(() => {}).then(() => this.#begin())
    return this.#next
  }

  #begin(): Promise<void> {
    this.#next = undefined
    const looking = this.#database.refresh().finally(() => {
      if (this.#looking === looking) this.#looking = undefined
    })
    return (this.#looking = looking)
  }
}
