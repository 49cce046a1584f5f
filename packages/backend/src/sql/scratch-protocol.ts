/** What the server and the process of a scratch database say to each other. */

/** A value of SQLite, in and out. */
export type Cell = string | number | bigint | null | Uint8Array

export type Row = readonly Cell[]

/** A table that stands for a collection. */
export interface ScratchTable {
  readonly name: string
  /** Statements can't change its rows. */
  readonly isView: boolean
  readonly columns: readonly ScratchColumn[]
}

interface ScratchColumn {
  readonly name: string
  /** `TEXT DEFAULT '' NOT NULL` */
  readonly declaration: string
  /** Statements see nothing of it, and can't set it. */
  readonly isSecret: boolean
}

/** What the process is sent: tables with their rows, then the statements. */
export type ScratchRequest =
  | { readonly kind: 'table'; readonly table: ScratchTable }
  | { readonly kind: 'rows'; readonly table: string; readonly rows: readonly Row[] }
  | { readonly kind: 'run'; readonly statements: string }

/** A column of an answer. */
export interface ResultColumn {
  /** The alias, or the expression. */
  readonly name: string
  /** As its table declares it: `TEXT`. Empty for an expression. */
  readonly type: string
  /** PocketBase says true of all. */
  readonly nullable: boolean
}

/** What statements have done to one table. Rows have the columns in the order of the table. */
export interface TableChanges {
  readonly table: string
  /** Undefined before: the row is new. */
  readonly written: readonly { readonly before: Row | undefined; readonly after: Row }[]
  readonly deleted: readonly string[]
}

/** What came of the statements. */
export interface ScratchResult {
  readonly affectedRows: number
  readonly columns: readonly ResultColumn[]
  readonly rows: readonly (readonly (string | null)[])[]
  /** In the order in which the tables were first written. */
  readonly changes: readonly TableChanges[]
}

/** What the process answers. An error is the text for the superuser. */
export type ScratchReply = { readonly result: ScratchResult } | { readonly error: string }
