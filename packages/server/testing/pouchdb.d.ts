/** As much of PouchDB and its server as the tests use. */
declare module 'pouchdb' {
  export interface PouchDocument {
    readonly _id: string
    readonly _rev?: string
    readonly _deleted?: boolean
    readonly _attachments?: Readonly<Record<string, object>>
    readonly [field: string]: unknown
  }

  export interface PouchChange {
    readonly id: string
    readonly deleted?: boolean
    readonly changes: readonly { readonly rev: string }[]
    readonly doc?: PouchDocument
  }

  export interface PouchReplication extends PromiseLike<{ readonly docs_written: number; readonly ok: boolean }> {
    cancel(): void
  }

  export default class PouchDB {
    static plugin(plugin: unknown): typeof PouchDB
    static defaults(options: object): typeof PouchDB
    constructor(name: string, options?: object)
    readonly replicate: {
      to(target: PouchDB | string, options?: object): PouchReplication
      from(source: PouchDB | string, options?: object): PouchReplication
    }
    put(document: PouchDocument): Promise<{ readonly id: string; readonly rev: string }>
    get(id: string, options?: object): Promise<PouchDocument & { readonly _rev: string }>
    getAttachment(id: string, name: string, options?: object): Promise<Uint8Array>
    bulkDocs(documents: readonly PouchDocument[], options?: object): Promise<readonly unknown[]>
    changes(options: object): PromiseLike<{ readonly results: readonly PouchChange[] }>
    allDocs(options?: object): Promise<{ readonly total_rows: number }>
    info(): Promise<{ readonly doc_count: number; readonly update_seq: unknown }>
    destroy(): Promise<unknown>
    close(): Promise<unknown>
  }
}

declare module 'pouchdb-adapter-memory' {
  const plugin: unknown
  export default plugin
}

declare module 'express-pouchdb' {
  import type { RequestListener } from 'node:http'
  import type PouchDB from 'pouchdb'
  export default function app(pouchdb: typeof PouchDB, options?: object): RequestListener
}
