/** The document that is edited as text, and how it stays right while others write it. */
import { isPannierError } from 'pannier'
import { Model } from './model.ts'
import type { JsonObject, Source } from './source.ts'

export class EditorModel extends Model {
  readonly collection: string
  /** Undefined: a new document. */
  id: string | undefined
  text = '{\n  \n}'
  /** The problem with the text, which can't be saved. */
  problem: string | undefined
  /** The text is stale: the document was written elsewhere since it was read. */
  isStale = false
  isGone = false
  /** Live leaf revisions beside the winner. */
  conflicts: readonly string[] = []
  readonly #source: Source
  readonly #stop: () => void
  #before: JsonObject | undefined
  #read = this.text

  constructor(source: Source, collection: string, id: string | undefined) {
    super()
    this.#source = source
    this.collection = collection
    this.id = id
    this.#stop = source.follow(({ collections }) => {
      const change = collections.get(collection)
      if (this.id === undefined || change === undefined) return
      if (change.ids === undefined || change.ids.includes(this.id)) void this.#follow()
    })
  }

  stop(): void {
    this.#stop()
  }

  get isDirty(): boolean {
    return this.text !== this.#read
  }

  /** Reads the document. Changes of the text are lost. */
  async load(): Promise<void> {
    const { id } = this
    if (id === undefined) return
    const found = await this.attempt(async () => ({ document: await this.#get(id) }))
    if (found === undefined) return
    this.#take(found.document)
  }

  edit(text: string): void {
    this.text = text
    this.problem = problemOf(text, this.#before)
    this.changed()
  }

  /** Stores the text. False: it could not be stored. */
  async save(): Promise<boolean> {
    this.edit(this.text)
    if (this.problem !== undefined) return false
    const document = JSON.parse(this.text) as JsonObject
    const saved = await this.attempt(() => this.#source.save(this.collection, document, this.#before))
    if (saved === undefined) return false
    this.id = saved
    await this.load()
    return true
  }

  /** Stores the text in place of what others have written meanwhile. */
  async overwrite(): Promise<boolean> {
    const document = await this.attempt(() => this.#get(this.id!))
    if (document === undefined) return false
    this.#before = document
    this.isStale = false
    const text = this.text.replace(/"_rev":\s*"[^"]*"/, `"_rev": ${JSON.stringify(document['_rev'])}`)
    this.edit(text)
    return this.save()
  }

  async remove(): Promise<boolean> {
    const before = this.#before
    if (before === undefined) return false
    const removed = await this.attempt(async () => {
      try {
        await this.#source.remove(this.collection, before)
      } catch (error) {
        this.isStale ||= isPannierError(error, 'PANNIER_CONFLICT')
        throw error
      }
      return true
    })
    if (removed === undefined) return false
    this.#take(undefined)
    return true
  }

  async #get(id: string): Promise<JsonObject | undefined> {
    const collection = this.#source.collection(this.collection)
    return this.#source.client === undefined ? await collection.get(id, { conflicts: true }) : await collection.get(id)
  }

  /** Follows a write of others. */
  async #follow(): Promise<void> {
    if (!this.isDirty) return this.load()
    const document = await this.#get(this.id!).catch(() => undefined)
    this.isStale = document?.['_rev'] !== this.#before?.['_rev']
    this.isGone = document === undefined
    this.changed()
  }

  #take(document: JsonObject | undefined): void {
    this.isGone = document === undefined
    this.isStale = false
    this.problem = undefined
    if (document !== undefined) {
      const { _conflicts: conflicts = [], ...content } = document
      this.conflicts = conflicts as readonly string[]
      this.#before = content
      this.text = JSON.stringify(content, undefined, 2)
    }
    this.#read = this.text
    this.changed()
  }
}

/** Why a text is no document to store; undefined: it is one. */
function problemOf(text: string, before: JsonObject | undefined): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'A document must be an object.'
  if (before !== undefined && (value as JsonObject)['_id'] !== before['_id'])
    return 'The _id of a document stays. Make a new document for another one.'
  return undefined
}
