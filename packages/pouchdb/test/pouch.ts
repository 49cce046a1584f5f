/** PouchDB with the adapter and the plug-ins that tests use. */
import PouchCore from 'pouchdb-core'
import pouchdbFind from 'pouchdb-find'
import pouchdbMapReduce from 'pouchdb-mapreduce'
import { pannierAdapter, type PannierAdapterOptions } from 'pouchdb-adapter-pannier'
import { memory } from 'pannier/memory'

export type Doc = Record<string, unknown> & { _id?: string; _rev?: string }

export interface Answer {
  readonly ok?: true
  readonly id: string
  readonly rev: string
  readonly status?: number
  readonly name?: string
}

export interface Rows {
  readonly total_rows: number
  readonly offset: number
  readonly rows: readonly (Doc & {
    readonly id: string
    readonly key: unknown
    readonly value: unknown
    readonly doc?: Doc
  })[]
}

export interface Feed extends PromiseLike<{ readonly results: readonly Doc[]; readonly last_seq: number }> {
  on(event: string, listener: (value: Doc & { readonly id: string; readonly seq: number }) => void): this
  cancel(): void
}

/** As much of PouchDB as the tests use. */
export interface Pouch {
  readonly name: string
  put(doc: Doc, options?: object): Promise<Answer>
  post(doc: Doc): Promise<Answer>
  get(id: string, options?: object): Promise<Doc & { _id: string; _rev: string; _attachments: Record<string, Doc> }>
  remove(doc: Doc | string, rev?: string): Promise<Answer>
  bulkDocs(docs: readonly Doc[] | object, options?: object): Promise<readonly Answer[]>
  bulkGet(options: object): Promise<{ readonly results: readonly { readonly docs: readonly Doc[] }[] }>
  revsDiff(revisions: object): Promise<object>
  allDocs(options?: object): Promise<Rows>
  changes(options?: object): Feed
  query(view: unknown, options?: object): Promise<Rows>
  viewCleanup(): Promise<unknown>
  createIndex(definition: object): Promise<Doc>
  deleteIndex(definition: object): Promise<Doc>
  find(request: object): Promise<{ readonly docs: readonly Doc[]; readonly warning?: string }>
  getAttachment(id: string, name: string, options?: object): Promise<Buffer & { readonly type: string }>
  putAttachment(id: string, name: string, rev: string, data: unknown, type: string): Promise<Answer>
  compact(): Promise<unknown>
  purge(id: string, rev: string): Promise<Doc>
  info(): Promise<Doc & { readonly doc_count: number; readonly update_seq: number }>
  close(): Promise<void>
  destroy(): Promise<unknown>
  on(event: string, listener: (value: unknown) => void): this
  transform(functions: { readonly incoming?: (doc: Doc) => Doc; readonly outgoing?: (doc: Doc) => Doc }): void
  crypto(password: string): Promise<void>
}

export interface PouchClass {
  new (name: string, options: PannierAdapterOptions & Record<string, unknown>): Pouch
  plugin(plugin: unknown): void
}

export const PouchDB: PouchClass = PouchCore as unknown as PouchClass
PouchDB.plugin(pannierAdapter)
PouchDB.plugin(pouchdbMapReduce)
PouchDB.plugin(pouchdbFind)

/** A database in a memory of its own, or in that of the options. */
export function newPouch(options: Record<string, unknown> = {}): Pouch {
  return new PouchDB('docs', { adapter: 'pannier', storage: memory(), ...options })
}
