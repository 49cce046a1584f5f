/** Writes of records by doors whose requests bring whole documents, such as CouchDB's. Each decision is the one of all doors. */
import type { PannierError } from 'pannier'
import { asRefusal } from '../gateway/guard-chain.ts'
import { hasStreams, type GuardedWriterParts, type StoreWrites } from '../gateway/guarded-writer.ts'
import type { WriteGuard } from '../gateway/guards.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { documentHooks, type DocumentHooksParts } from './document-hooks.ts'
import { definitionServedAs, recordsGuard } from './records-guard.ts'
import { Consequences } from './write/consequences.ts'
import { MissingRows, withViewRows } from './write/write-views.ts'

/** The parts of the gateway that know records. */
export interface DocumentWrites extends Required<Pick<GuardedWriterParts, 'around' | 'store'>> {
  /** Judges documents as records. It passes those of collections without a definition. */
  readonly guard: WriteGuard
}

export function documentWrites(parts: DocumentHooksParts): DocumentWrites {
  return { guard: recordsGuard(parts), around: documentHooks(parts), store: storing(parts) }
}

/** Stores documents with what follows from them: each in a transaction of its own, if anything may. */
function storing({ database, definitions }: DocumentHooksParts): StoreWrites {
  const consequences = new Consequences(definitions)
  return async ({ database: name }, documents, put) => {
    const definition = definitionServedAs(name, definitions)
    if (definition === undefined) return put(documents)
    // Content that was read can't be read again.
    const again = documents.some(hasStreams) ? withoutViewRows : withViewRows
    const isDelete = ({ _deleted }: (typeof documents)[number]): boolean => _deleted === true
    if (!documents.some((document) => consequences.mayFollow(definition, isDelete(document))))
      return again(() => put(documents))
    const outcomes: Awaited<ReturnType<typeof put>>[number][] = []
    for (const document of documents) {
      const id = String(document['_id'])
      const about = { definition, id, isDelete: isDelete(document) }
      const store = (): ReturnType<typeof put> =>
        database.transaction((place) => consequences.around(place, about, () => put([document], place)))
      const [outcome] = await again(store).catch((error: unknown) => [{ id, error: asRefused(error) }])
      outcomes.push(outcome!)
    }
    return outcomes
  }
}

/** @throws ServiceError UNAVAILABLE in place of `MissingRows`, whose rows the next try finds */
async function withoutViewRows<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof MissingRows)) throw error
    error.load().catch(() => {})
    throw new ServiceError('UNAVAILABLE', 'The rows of a view were not there yet. Try again.', { cause: error })
  }
}

function asRefused(error: unknown): PannierError {
  if (error instanceof ServiceError) return asRefusal(error)
  throw error
}
