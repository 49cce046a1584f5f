/** A form for a document. */
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { draftOf, nextDraft, type Draft, type DraftStore, type Kept, type Save } from '@pannier/stores'
import { useKept } from './use-store.ts'

/**
 * A document with what is typed into it. An input that is bound to a document of the database would lose letters. The document
 * comes back a moment after it was written. A draft shows each letter at once, until the document has it or somebody else changes the
 * field. A document with another id has another draft.
 *
 * @param save Gets the fields that were changed since its last success, and the id of the document that they belong to. It is not
 *   called again while its promise is pending.
 * @example
 * const { draft, change } = useDraft(ann, (fields, id) => people.update(id, fields))
 * const onCity = (city: string): void => change({ city })
 */
export function useDraft<Row extends object>(document: Row | undefined, save: Save<Row>): Draft<Row> {
  const store = useKept<Kept<DraftStore<Row>>>((before) => nextDraft(before, document))
  const state = useSyncExternalStore(store.subscribe, store.read, store.read)
  useEffect(() => store.shown(document), [store, document])
  const draft = useMemo(() => draftOf(document, state), [document, state])
  return { ...draft, change: (fields) => store.change(fields, document, save) }
}
