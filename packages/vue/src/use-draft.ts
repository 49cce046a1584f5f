/** A form for a document. */
import { computed, toValue, watchPostEffect, type MaybeRefOrGetter } from 'vue'
import { draftOf, nextDraft, type Draft, type DraftStore, type Kept, type Save } from '@pannier/stores'
import { refsOf, useStore, type Refs } from './use-store.ts'

/** The result of `useDraft`. */
export interface DraftRefs<Row extends object> extends Refs<Omit<Draft<Row>, 'change'>>, Pick<Draft<Row>, 'change'> {}

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
export function useDraft<Row extends object>(
  document: MaybeRefOrGetter<Row | undefined>,
  save: Save<Row>,
): DraftRefs<Row> {
  const { store, state } = useStore<Kept<DraftStore<Row>>>((before) => nextDraft(before, toValue(document)))
  watchPostEffect(() => store.value.shown(toValue(document)))
  return {
    ...refsOf(computed(() => draftOf(toValue(document), state.value))),
    change: (fields) => store.value.change(fields, toValue(document), save),
  }
}
