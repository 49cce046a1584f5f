/** A form for a document. */
import {
  draftOf,
  given,
  nextDraft,
  viewOf,
  type Draft,
  type DraftStore,
  type Given,
  type Kept,
  type Save,
} from '@pannier/stores'
import { createStore } from './create-store.ts'

/**
 * A document with what is typed into it. An input that is bound to a document of the database would lose letters. The document
 * comes back a moment after it was written. A draft shows each letter at once, until the document has it or somebody else changes the
 * field. A document with another id has another draft.
 *
 * @param save Gets the fields that were changed since its last success, and the id of the document that they belong to. It is not
 *   called again while its promise is pending.
 * @example
 * const form = createDraft(ann, (fields, id) => people.update(id, fields))
 * const onCity = (city: string): void => form.change({ city })
 */
export function createDraft<Row extends object>(document: Given<Row | undefined>, save: Save<Row>): Draft<Row> {
  const read = createStore<Kept<DraftStore<Row>>>((before) => nextDraft(before, given(document)))
  const change: Draft<Row>['change'] = (fields) => read()[0].change(fields, given(document), save)
  return viewOf(() => {
    const [store, state] = read()
    const shown = given(document)
    // What reads a state may change none: the store hears of the document a moment later.
    queueMicrotask(() => store.shown(shown))
    return { ...draftOf(shown, state), change }
  })
}
