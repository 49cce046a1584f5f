/** As much of PouchDB as the tests of the server use. */
export interface PouchDocument {
  _id: string
  _rev?: string
  _deleted?: boolean
  _conflicts?: string[]
  _attachments?: Record<
    string,
    { content_type: string; data?: unknown; digest?: string; length?: number; stub?: boolean }
  >
  [field: string]: unknown
}

export interface PouchChange {
  id: string
  seq: string | number
  deleted?: boolean
  changes: { rev: string }[]
  doc?: PouchDocument
}

export interface ReplicationResult {
  ok: boolean
  docs_read: number
  docs_written: number
  doc_write_failures: number
  status: string
  last_seq: string | number
}

export interface Running<T> extends PromiseLike<T> {
  on(event: string, listener: (value: never) => void): this
  cancel(): void
}

export interface Written {
  ok: boolean
  id: string
  rev: string
}

export class PouchDB {
  static plugin(plugin: unknown): typeof PouchDB
  static defaults(options: object): typeof PouchDB
  static sync(a: PouchDB, b: PouchDB | string, options?: object): Running<unknown>
  constructor(name: string, options?: object)
  readonly name: string
  once(event: 'destroyed', listener: () => void): this
  readonly replicate: {
    to(target: PouchDB | string, options?: object): Running<ReplicationResult>
    from(source: PouchDB | string, options?: object): Running<ReplicationResult>
  }
  sync(other: PouchDB | string, options?: object): Running<{ push: ReplicationResult; pull: ReplicationResult }>
  put(document: PouchDocument, options?: object): Promise<Written>
  post(document: object): Promise<Written>
  get(id: string, options?: object): Promise<PouchDocument & { _rev: string }>
  remove(document: PouchDocument | Written): Promise<Written>
  bulkDocs(documents: readonly object[], options?: object): Promise<(Written & { error?: string; status?: number })[]>
  bulkGet(options: object): Promise<{ results: { id: string; docs: { ok?: PouchDocument; error?: unknown }[] }[] }>
  allDocs(options?: object): Promise<{
    total_rows: number
    offset: number
    rows: {
      id: string
      key: string
      value: { rev: string; deleted?: boolean }
      doc?: PouchDocument | null
      error?: string
    }[]
  }>
  changes(options?: object): Running<{ results: PouchChange[]; last_seq: string | number; pending?: number }>
  putAttachment(id: string, name: string, rev: string, data: Uint8Array, type: string): Promise<Written>
  getAttachment(id: string, name: string, options?: object): Promise<Uint8Array>
  removeAttachment(id: string, name: string, rev: string): Promise<Written>
  createIndex(index: object): Promise<{ result: string; id?: string; name?: string }>
  getIndexes(): Promise<{ indexes: { ddoc: string | null; name: string }[] }>
  deleteIndex(index: object): Promise<{ ok: boolean }>
  find(request: object): Promise<{ docs: PouchDocument[]; bookmark?: string; warning?: string }>
  query(view: string, options?: object): Promise<{ total_rows?: number; offset?: number; rows: object[] }>
  explain(request: object): Promise<{ index: { name: string } }>
  revsDiff(revs: object): Promise<Record<string, { missing: string[]; possible_ancestors?: string[] }>>
  compact(): Promise<{ ok: boolean }>
  info(): Promise<{ db_name: string; doc_count: number; update_seq: string | number }>
  close(): Promise<void>
  destroy(): Promise<void>
}
