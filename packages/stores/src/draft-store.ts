/**
 * A store of the changes that a person types into a form before the document shows them. Each save waits for the one
 * before.
 */
import { keptFor, storeOf, type Kept, type Store } from './store.ts'

/** A document with what is typed into it. */
export interface Draft<Row extends object> {
  /** The document with what is typed. Undefined while the document is, and nothing is typed. */
  readonly draft: Row | undefined
  /** Shows these fields at once, and saves them. */
  change(fields: DraftFields<Row>): void
  /** 'failed': the last save. What is typed stays. */
  readonly status: 'saved' | 'saving' | 'failed'
  /** The error of the last save, with the status 'failed'. */
  readonly error: unknown
}

/** Fields of a document, without those of the database. */
export type DraftFields<Row extends object> = {
  [Name in keyof Row as Name extends `_${string}` ? never : Name]?: Row[Name]
}

/** Saves the fields that were changed. */
export type Save<Row extends object> = (fields: DraftFields<Row>) => unknown

interface Typed {
  readonly value: unknown
  readonly isSaved: boolean
  /** The former value of the field, and all texts typed since: a document that comes late has one of these. */
  readonly former: ReadonlySet<string>
}

/** The typed fields that the document does not show yet, and how their save is. */
export interface DraftState extends Pick<Draft<object>, 'status' | 'error'> {
  /** The typed fields by name. */
  readonly typed: ReadonlyMap<string, Typed>
}

/** A store of what is typed into one document. */
export interface DraftStore<Row extends object> extends Store<DraftState> {
  /** Shows these fields at once, and saves them. */
  change(fields: DraftFields<Row>, document: Row | undefined, save: Save<Row>): void
  /** The document shows what was typed, or what somebody else has written since. */
  shown(document: Row | undefined): void
}

/** The store of a document: `before`, if that is of the same document. */
export function nextDraft<Row extends object>(
  before: Kept<DraftStore<Row>> | undefined,
  document: Row | undefined,
): Kept<DraftStore<Row>> {
  const { _id, id = _id } = Object(document) as { readonly _id?: unknown; readonly id?: unknown }
  return keptFor(before, [id], draftStore<Row>)
}

/** The document with what is typed. */
export function withTyped<Row extends object>(document: Row | undefined, { typed }: DraftState): Row | undefined {
  if (typed.size === 0) return document
  return { ...document, ...Object.fromEntries(Array.from(typed, ([name, { value }]) => [name, value])) } as Row
}

function draftStore<Row extends object>(): DraftStore<Row> {
  const { read, subscribe, show } = storeOf<DraftState>({ typed: new Map(), status: 'saved', error: undefined })
  /** Fields that wait for a save, or whose save has failed. */
  let unsaved: DraftFields<Row> = {}
  let newestSave: Save<Row>
  let isWaiting = false
  let shownDocument: Row | undefined
  const markSaved = (fields: DraftFields<Row>): void => {
    const typed = new Map(read().typed)
    for (const [name, value] of Object.entries(fields)) {
      const field = typed.get(name)
      if (field !== undefined && field.value === value) typed.set(name, { ...field, isSaved: true })
    }
    show({ ...read(), typed })
    settle()
  }
  const settle = (): void => {
    const typed = new Map(read().typed)
    for (const [name, { value, isSaved, former }] of typed) {
      if (shownDocument === undefined || !isSaved) continue
      const key = keyOf(shownDocument[name as keyof Row])
      if (key === keyOf(value) || !former.has(key)) typed.delete(name)
    }
    if (typed.size < read().typed.size) show({ ...read(), typed })
  }
  const saveAll = async (): Promise<void> => {
    let ended: Pick<DraftState, 'status' | 'error'> | undefined
    while (isWaiting) {
      const fields = unsaved
      unsaved = {}
      isWaiting = false
      try {
        await newestSave(fields)
        ended = { status: 'saved', error: undefined }
        markSaved(fields)
      } catch (error) {
        ended = { status: 'failed', error }
        unsaved = { ...fields, ...unsaved }
      }
    }
    show({ ...read(), ...ended })
  }
  return {
    read,
    subscribe,
    change(fields, document, save) {
      const typed = new Map(read().typed)
      for (const [name, value] of Object.entries(fields)) {
        const former = typed.get(name)?.former ?? [keyOf(document?.[name as keyof Row])]
        typed.set(name, { value, isSaved: false, former: new Set([...former, keyOf(value)]) })
      }
      const isSaving = read().status === 'saving'
      unsaved = { ...unsaved, ...fields }
      newestSave = save
      isWaiting = true
      show({ typed, status: 'saving', error: undefined })
      if (!isSaving) void saveAll()
    },
    shown(document) {
      shownDocument = document
      settle()
    },
  }
}

function keyOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
