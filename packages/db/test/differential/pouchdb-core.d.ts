/** As much of PouchDB as the differential tests use. */
declare module 'pouchdb-core' {
  export interface PouchDocument {
    readonly _id: string
    readonly _rev?: string
    readonly _deleted?: boolean
    readonly _revisions?: { readonly start: number; readonly ids: readonly string[] }
    readonly [field: string]: unknown
  }

  export interface PouchChange {
    readonly id: string
    readonly seq: number
    readonly deleted?: boolean
    readonly changes: readonly { readonly rev: string }[]
  }

  export default class PouchDB {
    static plugin(plugin: unknown): void
    constructor(name: string, options: { readonly adapter: string; readonly revs_limit?: number })
    put(document: PouchDocument): Promise<{ readonly rev: string }>
    bulkDocs(documents: readonly PouchDocument[], options: { readonly new_edits: false }): Promise<readonly unknown[]>
    get(
      id: string,
      options: { readonly open_revs: 'all'; readonly revs: true },
    ): Promise<readonly { readonly ok?: PouchDocument }[]>
    changes(options: {
      readonly style: 'main_only' | 'all_docs'
    }): PromiseLike<{ readonly results: readonly PouchChange[] }>
    revsDiff(
      revisions: Readonly<Record<string, readonly string[]>>,
    ): Promise<Readonly<Record<string, { readonly missing: readonly string[] }>>>
    destroy(): Promise<unknown>
  }
}

declare module 'pouchdb-adapter-memory' {
  const plugin: unknown
  export default plugin
}
