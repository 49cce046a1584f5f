/** A form for a document. */
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { DraftStore, type Draft, type Save } from './draft-store.ts'

/**
 * A document with what is typed into it. An input that is bound to a document of the database would lose letters. The document
 * comes back a moment after it was written. A draft shows each letter at once, until the document has it or somebody else changes the
 * field. A document with another id has another draft.
 *
 * @param save Gets the fields that were changed since its last call. It is not called again while its promise is pending.
 * @example
 * const { draft, change } = useDraft(ann, (fields) => people.update('ann', fields))
 * const onCity = (city: string): void => change({ city })
 */
export function useDraft<Row extends object>(document: Row | undefined, save: Save<Row>): Draft<Row> {
  const store = useMemo(() => new DraftStore<Row>(), [idOf(document)])
  const { typed, status, error } = useSyncExternalStore(store.subscribe, store.read, store.read)
  useEffect(() => store.shown(document), [store, document, typed])
  const draft = useMemo(() => {
    if (typed.size === 0) return document
    return { ...document, ...Object.fromEntries(Array.from(typed, ([name, { value }]) => [name, value])) } as Row
  }, [document, typed])
  return { draft, change: (fields) => store.change(fields, document, save), status, error }
}

function idOf(document: object | undefined): unknown {
  const { _id, id = _id } = (document ?? {}) as { readonly _id?: unknown; readonly id?: unknown }
  return id
}
