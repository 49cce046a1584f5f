/** A form for a document. */
import { computed, effect } from '@angular/core'
import {
  draftOf,
  given,
  nextDraft,
  type Draft,
  type DraftStore,
  type Given,
  type Kept,
  type Save,
} from '@pannier/stores'
import { injectStore, signalsOf, type Signals } from './inject-store.ts'

/** The result of `injectDraft`. */
export interface DraftSignals<Row extends object>
  extends Signals<Omit<Draft<Row>, 'change'>>, Pick<Draft<Row>, 'change'> {}

/**
 * A document with what is typed into it. An input that is bound to a document of the database would lose letters. The document
 * comes back a moment after it was written. A draft shows each letter at once, until the document has it or somebody else changes the
 * field. A document with another id has another draft.
 *
 * @param save Gets the fields that were changed since its last success, and the id of the document that they belong to. It is not
 *   called again while its promise is pending.
 * @example
 * const form = injectDraft(ann, (fields, id) => people.update(id, fields))
 * const onCity = (city: string): void => form.change({ city })
 */
export function injectDraft<Row extends object>(document: Given<Row | undefined>, save: Save<Row>): DraftSignals<Row> {
  const { store, state } = injectStore<Kept<DraftStore<Row>>>((before) => nextDraft(before, given(document)))
  effect(() => store().shown(given(document)))
  const draft = computed(() => draftOf(given(document), state()))
  return { ...signalsOf(draft), change: (fields) => store().change(fields, given(document), save) }
}
