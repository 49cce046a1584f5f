/**
 * Group commit across connections: single documents that arrive in one turn of the event loop are written in one
 * commit, and their answers are sent together. Each has its own outcome, as if it had been written alone in the order
 * of arrival.
 */
import type { TransactionCollection, WriteOutcome } from 'pannier'
import type { DocumentGuard } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { isPannierError } from 'pannier'
import { guarded } from 'pannier/internal'
import type { JsonObject } from './documents.ts'

const DOCUMENTS_MAX = 256

interface Waiting {
  readonly document: JsonObject
  readonly guard: DocumentGuard | undefined
  resolve(outcome: WriteOutcome): void
  reject(error: unknown): void
}

interface Group {
  readonly waiting: Waiting[]
  /** A guard has to see what was written before, so a document is in a group once. */
  readonly ids: Set<unknown>
}

export class WriteGroups {
  readonly #environment: Pick<Environment, 'yield'>
  readonly #groups = new Map<TransactionCollection<JsonObject>, Group>()

  constructor(environment: Pick<Environment, 'yield'>) {
    this.#environment = environment
  }

  /** As `collection.put(document)`, with what concerns the document alone as an outcome. */
  put(
    collection: TransactionCollection<JsonObject>,
    document: JsonObject,
    guard?: DocumentGuard,
  ): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { document, guard, resolve, reject }
      const { _id: id } = document
      const group = this.#groups.get(collection)
      if (group !== undefined && group.waiting.length < DOCUMENTS_MAX && !group.ids.has(id)) {
        group.waiting.push(waiting)
        if (id !== undefined) group.ids.add(id)
        return
      }
      const made: Group = { waiting: [waiting], ids: new Set(id === undefined ? [] : [id]) }
      this.#groups.set(collection, made)
      // By then every request has been looked at that had come when this one was.
      void this.#environment.yield().then(() => {
        if (this.#groups.get(collection) === made) this.#groups.delete(collection)
        void write(collection, made.waiting)
      })
    })
  }
}

async function write(collection: TransactionCollection<JsonObject>, group: readonly Waiting[]): Promise<void> {
  try {
    const outcomes = await store(collection, group)
    for (const [at, { resolve }] of group.entries()) resolve(outcomes[at]!)
  } catch (error) {
    const isOfOne = error instanceof TypeError || isPannierError(error, 'PANNIER_BATCH_TOO_LARGE')
    // Nothing was written: one document must not be the end of others. Nor must the guard of one.
    const isJudged = group.some(({ guard }) => guard !== undefined)
    if ((isOfOne || isJudged) && group.length > 1) for (const one of group) await write(collection, [one])
    else for (const { reject } of group) reject(error)
  }
}

function store(
  collection: TransactionCollection<JsonObject>,
  group: readonly Waiting[],
): Promise<readonly WriteOutcome[]> {
  const documents = group.map(({ document }) => document)
  if (group.every(({ guard }) => guard === undefined)) return collection.put(documents, { atomic: false })
  const judge: DocumentGuard = (change) => group[change.position]!.guard?.({ ...change, position: 0 })
  return guarded(collection, judge).put(documents, { atomic: false })
}
