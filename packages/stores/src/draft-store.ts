/**
 * A store of the changes that a person types into a form before the document shows them. Each save waits for the one
 * before.
 */
import { keptFor, storeOf, type Kept, type Store } from './store.ts'

/** A document with what is typed into it. */
export interface Draft<Row extends object> {
  /** The document with what is typed. Undefined while the document is. */
  readonly draft: Row | undefined
  /** Shows these fields at once, and saves them. Without a document it does nothing. */
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

/** Saves the fields that were changed into the document with this id. The form may show another one by then. */
export type Save<Row extends object> = (fields: DraftFields<Row>, id: string) => unknown

interface Typed {
  readonly value: unknown
  /** The former value of the field, and all texts typed since: a document that comes late has one of these. */
  readonly former: Set<string | undefined>
  isSaved: boolean
}

/** The typed fields that the document does not show yet, and how their save is. */
export interface DraftState extends Pick<Draft<object>, 'status' | 'error'> {
  /** The values of the typed fields by name. Undefined: no field is typed. */
  readonly typed: object | undefined
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
  return keptFor(before, [id as string], draftStore<Row>)
}

/** The document with what is typed, and how the save of that is. */
export function draftOf<Row extends object>(
  document: Row | undefined,
  { typed, status, error }: DraftState,
): Omit<Draft<Row>, 'change'> {
  return { draft: typed === undefined ? document : ({ ...document, ...typed } as Row), status, error }
}

function draftStore<Row extends object>(id: string): DraftStore<Row> {
  const { read, subscribe, show } = storeOf<DraftState>({ typed: undefined, status: 'saved', error: undefined })
  const typed = new Map<string, Typed>()
  /** Fields that wait for a save, or whose save has failed. */
  let unsaved: DraftFields<Row> = {}
  let newestSave: Save<Row>
  let isWaiting = false
  let shownDocument: Row | undefined
  /** Forgets the fields that the document shows. */
  const settle = (status?: DraftState['status'], error?: unknown): void => {
    const { size } = typed
    for (const [name, { value, isSaved, former }] of typed) {
      const key = keyOf(shownDocument?.[name as keyof Row])
      if (isSaved && shownDocument && (key === keyOf(value) || !former.has(key))) typed.delete(name)
    }
    if (status === undefined && typed.size === size) return
    const values = Object.fromEntries(Array.from(typed, ([name, { value }]) => [name, value]))
    show({ ...read(), typed: typed.size > 0 ? values : undefined, ...(status && { status, error }) })
  }
  const saveAll = async (): Promise<void> => {
    while (isWaiting) {
      const fields = unsaved
      // What is typed meanwhile is another object, also with the same value.
      const saving = [...typed.values()]
      unsaved = {}
      isWaiting = false
      try {
        await newestSave(fields, id)
        for (const field of saving) field.isSaved = true
        // A listener may type at once: then the run that it starts takes over.
        settle(isWaiting ? undefined : 'saved')
      } catch (error) {
        unsaved = { ...fields, ...unsaved }
        if (!isWaiting) settle('failed', error)
      }
    }
  }
  return {
    read,
    subscribe,
    change(fields, document, save) {
      if (document === undefined) return
      for (const [name, value] of Object.entries(fields)) {
        const { former = new Set([keyOf(document[name as keyof Row])]) } = typed.get(name) ?? {}
        typed.set(name, { value, isSaved: false, former: former.add(keyOf(value)) })
      }
      const isSaving = read().status === 'saving'
      unsaved = { ...unsaved, ...fields }
      newestSave = save
      isWaiting = true
      settle('saving')
      if (!isSaving) void saveAll()
    },
    shown(document) {
      shownDocument = document
      settle()
    },
  }
}

/** A text of a value. Undefined: the document has no such field. */
const keyOf: (value: unknown) => string | undefined = JSON.stringify
