/**
 * A store of the changes that a person types into a form before the document shows them: React's external store. Each
 * save waits for the one before.
 */

/** The result of `useDraft`. */
export interface Draft<Row extends object> {
  /** The document with what is typed. Undefined while the document is, and nothing is typed. */
  readonly draft: Row | undefined
  /** Shows these fields at once, and saves them. */
  change(fields: DraftFields<Row>): void
  /** 'failed': the last save. What is typed stays. */
  readonly status: 'saved' | 'saving' | 'failed'
  /** With the status 'failed': why. */
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

interface DraftState {
  readonly typed: ReadonlyMap<string, Typed>
  readonly status: 'saved' | 'saving' | 'failed'
  readonly error: unknown
}

export class DraftStore<Row extends object> {
  #state: DraftState = { typed: new Map(), status: 'saved', error: undefined }
  #waiting: { readonly fields: DraftFields<Row>; readonly save: Save<Row> } | undefined
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly read = (): DraftState => this.#state

  change(fields: DraftFields<Row>, document: Row | undefined, save: Save<Row>): void {
    const typed = new Map(this.#state.typed)
    for (const [name, value] of Object.entries(fields)) {
      const former = typed.get(name)?.former ?? [keyOf(document?.[name as keyof Row])]
      typed.set(name, { value, isSaved: false, former: new Set([...former, keyOf(value)]) })
    }
    const isSaving = this.#state.status === 'saving'
    this.#waiting = { fields: { ...this.#waiting?.fields, ...fields }, save }
    this.#show({ ...this.#state, typed, status: 'saving' })
    if (!isSaving) void this.#save()
  }

  /** The document shows what was typed, or what somebody else has written since. */
  shown(document: Row | undefined): void {
    if (document === undefined) return
    const typed = new Map(this.#state.typed)
    for (const [name, { value, isSaved, former }] of typed) {
      const key = keyOf(document[name as keyof Row])
      if (isSaved && (key === keyOf(value) || !former.has(key))) typed.delete(name)
    }
    if (typed.size < this.#state.typed.size) this.#show({ ...this.#state, typed })
  }

  async #save(): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    for (let next = this.#waiting; next !== undefined; next = this.#waiting) {
      this.#waiting = undefined
      const { fields, save } = next
      failure = undefined
      try {
        await save(fields)
        this.#saved(fields)
      } catch (error) {
        failure = { error }
      }
    }
    this.#show({ ...this.#state, status: failure === undefined ? 'saved' : 'failed', error: failure?.error })
  }

  #saved(fields: DraftFields<Row>): void {
    const typed = new Map(this.#state.typed)
    for (const [name, value] of Object.entries(fields)) {
      const field = typed.get(name)
      if (field !== undefined && field.value === value) typed.set(name, { ...field, isSaved: true })
    }
    this.#show({ ...this.#state, typed })
  }

  #show(state: DraftState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

function keyOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
