/** The collections of a database, and a page of the documents of one of them. */
import type { IndexInfo } from 'pannier'
import type { Environment } from 'pannier/types'
import { Model, Throttled } from './model.ts'
import type { JsonObject, Source } from './source.ts'

/** A collection in the list. */
interface CollectionRow {
  readonly name: string
  readonly documents: number
  readonly deleted: number
  readonly bytes: number | undefined
}

/** A document in the list, on one line. */
interface DocumentRow {
  readonly id: string
  readonly preview: string
}

/** The kind of a question: ids that begin with a text, a selector, or words of a text index. */
export type QuestionKind = 'ids' | 'selector' | 'words'

const PAGE_ROWS = 50
/** Commits may come a thousand times a second. The list is read at most this often. */
const REFRESH_MS = 400
const PREVIEW_CHARS_MAX = 300

export class DocumentsModel extends Model {
  collections: readonly CollectionRow[] = []
  collection: string | undefined
  indexes: readonly IndexInfo[] = []
  kind: QuestionKind = 'ids'
  text = ''
  sort = ''
  page = 0
  rows: readonly DocumentRow[] = []
  /** How many documents answer the question; undefined: not known yet. */
  total: number | undefined
  readonly #source: Source
  readonly #refresh: Throttled
  readonly #stop: () => void
  #reading: AbortController | undefined

  constructor(source: Source, environment: Environment) {
    super()
    this.#source = source
    this.#refresh = new Throttled(environment, REFRESH_MS, () => this.refresh())
    this.#stop = source.follow(() => this.#refresh.ask())
  }

  stop(): void {
    this.#stop()
    this.#refresh.stop()
    this.#reading?.abort()
  }

  get pages(): number {
    return Math.max(1, Math.ceil((this.total ?? 0) / PAGE_ROWS))
  }

  /** Reads the list of collections, and the page. */
  async refresh(): Promise<void> {
    if (this.#source.ended !== undefined) return
    const rows = await this.attempt(async () => {
      const infos = (await this.#source.names()).map((name) => this.#source.collection(name).info())
      return (await Promise.all(infos)).map(({ name, documents, deleted, storedBytes }) => ({
        name,
        documents,
        deleted,
        bytes: storedBytes,
      }))
    })
    if (rows === undefined) return
    this.collections = rows
    const isThere = rows.some(({ name }) => name === this.collection)
    if (isThere) await this.#read()
    else if (this.collection === undefined && rows.length > 0) await this.select(rows[0]!.name)
    else this.changed()
  }

  async select(collection: string): Promise<void> {
    this.collection = collection
    this.indexes = []
    await this.ask({ kind: 'ids', text: '', sort: '' })
  }

  /** Asks another question, from its first page on. */
  async ask(question: Partial<Pick<DocumentsModel, 'kind' | 'text' | 'sort'>>): Promise<void> {
    Object.assign(this, question)
    this.page = 0
    await this.#read()
  }

  async turnTo(page: number): Promise<void> {
    this.page = Math.min(Math.max(0, page), this.pages - 1)
    await this.#read()
  }

  /** Whether the collection has an index of words. */
  get hasWords(): boolean {
    return this.indexes.some((index) => 'text' in index && Boolean(index.text))
  }

  async #read(): Promise<void> {
    const { collection: name, page } = this
    if (name === undefined || this.#source.ended !== undefined) return
    // A question that is typed letter by letter must not pile up.
    this.#reading?.abort()
    const reading = new AbortController()
    this.#reading = reading
    const answer = await this.attempt(async () => {
      const collection = this.#source.collection(name)
      const [indexes, found] = await Promise.all([collection.indexes(), this.#page(name, page, reading.signal)])
      return { indexes, ...found }
    })
    if (this.#reading !== reading) return
    this.#reading = undefined
    if (answer === undefined) return
    this.indexes = answer.indexes
    this.total = answer.total
    this.rows = answer.documents.map(rowOf)
    if (this.page >= this.pages) await this.turnTo(this.pages - 1)
    else this.changed()
  }

  async #page(name: string, page: number, signal: AbortSignal): Promise<Found> {
    const collection = this.#source.collection(name)
    const { kind, text } = this
    const skip = page * PAGE_ROWS
    const sort = this.sort.split(/[\s,]+/).filter((field) => field !== '')
    if (kind === 'words' && text.trim() !== '') {
      const search = collection.search(text).signal(signal)
      const [documents, total] = await Promise.all([search.skip(skip).limit(PAGE_ROWS).toArray(), search.count()])
      return { documents, total }
    }
    if (text.trim() !== '' || sort.length > 0) {
      const selector = kind === 'selector' ? parseSelector(text) : { _id: { $gte: text, $lt: `${text}\uffff` } }
      const query = collection.find(selector).sort(...((sort.length > 0 ? sort : ['_id']) as never[]))
      const { rows, total } = await query.skip(skip).limit(PAGE_ROWS).signal(signal).page()
      return { documents: rows, total }
    }
    const { rows, total } = await collection.list({ skip, limit: PAGE_ROWS, docs: true }).page()
    return { documents: rows.map(({ doc }) => doc!), total }
  }
}

interface Found {
  readonly documents: readonly JsonObject[]
  readonly total: number
}

/** The selector of a text. @throws SyntaxError */
export function parseSelector(text: string): JsonObject {
  return text.trim() === '' ? {} : (JSON.parse(text) as JsonObject)
}

function rowOf({ _id, _rev, ...fields }: JsonObject): DocumentRow {
  const text = JSON.stringify(fields)
  return { id: String(_id), preview: text.length > PREVIEW_CHARS_MAX ? `${text.slice(0, PREVIEW_CHARS_MAX)}…` : text }
}
