/**
 * Group commit across connections: single documents that requests bring in one turn of the event loop are written in one commit, and
 * their answers go out together. Each has its outcome, as if it had been written alone in the order of arrival.
 */
import type { Collection, WriteOutcome } from 'pannier'
import { isPannierError } from 'pannier'
import type { JsonObject } from './documents.ts'

const DOCUMENTS_MAX = 256

interface Waiting {
  readonly document: JsonObject
  resolve(outcome: WriteOutcome): void
  reject(error: unknown): void
}

export class WriteGroups {
  readonly #groups = new Map<Collection<JsonObject>, Waiting[]>()

  /** As `collection.put(document)`, with what concerns the document alone as an outcome. */
  put(collection: Collection<JsonObject>, document: JsonObject): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { document, resolve, reject }
      const group = this.#groups.get(collection)
      if (group !== undefined && group.length < DOCUMENTS_MAX) {
        group.push(waiting)
        return
      }
      const made = [waiting]
      this.#groups.set(collection, made)
      // By then every request has been looked at that had come when this one was.
      setImmediate(() => {
        if (this.#groups.get(collection) === made) this.#groups.delete(collection)
        void write(collection, made)
      })
    })
  }
}

async function write(collection: Collection<JsonObject>, group: readonly Waiting[]): Promise<void> {
  try {
    const documents = group.map(({ document }) => document)
    const outcomes = await collection.put(documents, { atomic: false })
    for (const [at, { resolve }] of group.entries()) resolve(outcomes[at]!)
  } catch (error) {
    const isOfOne = error instanceof TypeError || isPannierError(error, 'PANNIER_BATCH_TOO_LARGE')
    // Nothing was written: one document must not be the end of others.
    if (isOfOne && group.length > 1) for (const one of group) await write(collection, [one])
    else for (const { reject } of group) reject(error)
  }
}
