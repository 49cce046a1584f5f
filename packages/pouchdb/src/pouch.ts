/** The two sides of the contract between PouchDB and an adapter: what PouchDB's objects have, and the methods that an adapter gives. */
import type { Collection, Database, JsonObject } from 'pannier'
import type { PannierAdapterOptions } from './options.ts'

export type Callback<T = unknown> = (error: unknown, result?: T) => void

/** A document as PouchDB has it. */
export type PouchDocument = JsonObject

/** The database and the collection that hold the documents of a PouchDB database. */
export interface Place {
  readonly db: Database
  readonly docs: Collection<JsonObject>
}

/** The options of a database, as PouchDB completes them. */
export interface PouchOptions extends PannierAdapterOptions {
  readonly name: string
  readonly auto_compaction?: boolean
  readonly revs_limit?: number
  /** False: each revision of a document has a random name. */
  readonly deterministic_revs?: boolean
}

/** A node of a tree of revisions: the suffix, what is known of it, and its children. */
export type TreeNode = [
  suffix: string,
  facts: { status: 'available' | 'missing'; deleted?: true },
  children: TreeNode[],
]

/** The revisions of a document as PouchDB has them: trees whose roots are of the generation `pos`. */
export type RevisionTrees = readonly { readonly pos: number; readonly ids: TreeNode }[]

/** How attachments are read. */
export interface ContentOptions {
  readonly attachments?: boolean
  /** Blobs or Buffers, in place of base64. */
  readonly binary?: boolean
}

export interface GetOptions extends ContentOptions {
  readonly rev?: string
  readonly latest?: boolean
  readonly revs?: boolean
  readonly revs_info?: boolean
  readonly conflicts?: boolean
}

/** A document that was read, and what PouchDB looks up in it. */
export interface FoundDocument {
  readonly doc: PouchDocument
  readonly metadata: { readonly id: string; readonly rev: unknown; readonly rev_tree: RevisionTrees }
  /** Comes back with `_getAttachment`. */
  readonly ctx: ReadContext
}

interface ReadContext {
  readonly rev: unknown
  /** The contents of all attachments, by name, where they were read with the document. */
  readonly contents: Readonly<Record<string, unknown>> | undefined
}

export interface ListOptions extends ContentOptions {
  readonly startkey?: unknown
  readonly endkey?: unknown
  readonly inclusive_end?: boolean
  readonly key?: unknown
  readonly keys?: readonly unknown[]
  readonly descending?: boolean
  readonly limit?: number
  readonly skip?: number
  readonly include_docs?: boolean
  readonly conflicts?: boolean
  readonly update_seq?: boolean
}

export interface ListAnswer {
  readonly total_rows: number
  readonly offset: number | undefined
  readonly rows: readonly JsonObject[]
  readonly update_seq?: number
}

/** A row of the change feed. */
export interface Change {
  readonly id: string
  readonly seq: number
  readonly changes: readonly { readonly rev: string }[]
  deleted?: true
  doc?: PouchDocument
}

export interface FeedOptions extends ContentOptions {
  readonly since?: number
  readonly limit?: number
  readonly continuous?: boolean
  readonly descending?: boolean
  readonly doc_ids?: readonly string[]
  readonly style?: 'main_only' | 'all_docs'
  readonly include_docs?: boolean
  readonly conflicts?: boolean
  readonly return_docs?: boolean
  /** PouchDB's plug-ins have made a function of a name by now. */
  readonly filter?: unknown
  readonly onChange: (change: Change) => void
  readonly complete: Callback<{ readonly results: readonly Change[]; readonly last_seq: number }>
}

export interface BulkRequest {
  readonly docs: readonly PouchDocument[]
  readonly new_edits?: boolean
}

export interface WriteOptions {
  readonly new_edits?: boolean
  /** The request is of `remove`. */
  readonly was_delete?: boolean
  /** The document is written in spite of a conflict. */
  readonly force?: boolean
}

/** The fate of one document of a batch: PouchDB's answer, or one of its errors. */
export type WriteAnswer = { ok?: true; id?: unknown; rev?: string; error?: unknown }

/** The methods that PouchDB asks of an adapter, and those that its plug-ins look for. */
export interface AdapterMethods {
  _remote: boolean
  type(): string
  _id(callback: Callback<string | undefined>): void
  _info(callback: Callback<JsonObject>): void
  _get(id: string, options: GetOptions, callback: Callback<FoundDocument>): void
  _getAttachment(
    id: string,
    name: string,
    stub: unknown,
    options: { readonly ctx?: ReadContext },
    callback: Callback,
  ): void
  _getRevisionTree(id: string, callback: Callback<RevisionTrees>): void
  _allDocs(options: ListOptions, callback: Callback<ListAnswer>): void
  _changes(options: FeedOptions): { cancel(): void }
  _bulkDocs(request: BulkRequest, options: WriteOptions, callback: Callback<WriteAnswer[]>): void
  _getLocal(id: string, callback: Callback<PouchDocument>): void
  _putLocal(document: PouchDocument, ...rest: LocalRest): void
  _removeLocal(document: PouchDocument, ...rest: LocalRest): void
  _doCompaction(id: string, revs: readonly string[], callback: Callback): void
  _purge(id: string, path: readonly string[], callback: Callback): void
  _close(callback: Callback): void
  _destroy(options: unknown, callback: Callback): void
}

/** The options may be left out. */
export type LocalRest = [callback: Callback<WriteAnswer>] | [options: unknown, callback: Callback<WriteAnswer>]

/** All instances hear its events. */
interface PouchClass extends Function {
  listeners(event: 'debug'): readonly unknown[]
  emit(event: 'destroyed', name: string): boolean
}

/** A database as PouchDB makes it, when the adapter is called. */
export interface Pouch extends AdapterMethods {
  readonly name: string
  readonly __opts: PouchOptions
  readonly taskqueue: { readonly isReady: boolean; addTask(task: (failed?: unknown) => void): void }
  readonly constructor: PouchClass
  _closed?: boolean
  _destroyed?: boolean
  emit(event: string, value?: unknown): boolean
  once(event: string, listener: () => void): unknown
  listenerCount(event: string): number
  bulkDocs(...given: unknown[]): Promise<WriteAnswer[]>
  put(...given: unknown[]): Promise<WriteAnswer>
  post(...given: unknown[]): Promise<WriteAnswer>
  bulkGet(...given: unknown[]): Promise<unknown>
  revsDiff(...given: unknown[]): Promise<unknown>
  get(...given: unknown[]): Promise<PouchDocument>
  allDocs(...given: unknown[]): Promise<unknown>
  changes(...given: unknown[]): unknown
}
