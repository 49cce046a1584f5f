/** Messages between the server and the processes of the read model. */

import type { Cell } from '../fields/sqlite.ts'
import type { IndexProgram } from '../definitions/index-program.ts'
import type { DescribedQuery, TextRows } from '../definitions/views/view-queries.ts'
import type { PageWanted } from '../definitions/views/view-reader.ts'

/** A process that takes too much memory ends itself by this signal. Others end it by other ones. */
export const TOO_LARGE: NodeJS.Signals = process.platform === 'win32' ? 'SIGKILL' : 'SIGUSR2'

export type Row = readonly Cell[]

/** A row, and the number that its document has by creation. */
export type NumberedRow = readonly [number: number, ...cells: Cell[]]

/** A table that stands for a collection. */
export interface ModelTable {
  readonly name: string
  readonly columns: readonly ModelColumn[]
  /** Statements `CREATE INDEX`. SQLite plans with them, as it does in PocketBase. */
  readonly indexes: readonly string[]
  /** Whether it is read only: no statement writes it. */
  readonly isReadOnly?: boolean
}

interface ModelColumn {
  readonly name: string
  /** The declaration of a column: `TEXT DEFAULT '' NOT NULL` */
  readonly declaration: string
  /** True for a column that is empty here, and that no statement sets. */
  readonly isSecret?: boolean
  /** True for a column of times or numbers alone. */
  readonly isTimeOrNumber?: boolean
  /** SQLite computes it of others: rows have no value for it. */
  readonly isGenerated?: boolean
}

export interface ModelView {
  readonly name: string
  readonly query: string
}

/** A view, or a SELECT without a name. Values of a SELECT are as JSON has them, those of a view are texts. */
export type ModelSource = ModelView | { readonly name?: undefined; readonly query: string }

/** The schema of the model: names that a statement may use. A view stands behind those that it reads. */
export interface ModelSchema {
  readonly tables: readonly ModelTable[]
  readonly views: readonly ModelView[]
}

/** A part of what has changed. `table` makes an empty one. */
export type FeedStep =
  | { readonly kind: 'drop'; readonly table: string }
  | { readonly kind: 'table'; readonly table: ModelTable }
  | { readonly kind: 'rows'; readonly table: string; readonly rows: readonly NumberedRow[] }
  | { readonly kind: 'gone'; readonly table: string; readonly numbers: readonly number[] }
  | { readonly kind: 'keep'; readonly view: KeptView }
  | { readonly kind: 'forget'; readonly view: string }
  | { readonly kind: 'order'; readonly view: string; readonly order: PageWanted['order'] }
  | CompareStep

/** A view whose rows are kept by their ids. */
export interface KeptView extends ModelView {
  /** Where it reads: which ids of the view a row of the table with the id `?` has. */
  readonly sources: readonly { readonly table: string; readonly ids: string }[]
  /** Columns by which it joins its tables, and by which it groups. */
  readonly joins: readonly { readonly table: string; readonly column: string }[]
}

/** Documents as the collection has them. They come in the last turn of a transaction, when the table is as its collection. */
export interface CompareStep extends Pick<Overlay, 'rows' | 'gone'> {
  readonly kind: 'compare'
  readonly table: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** How a table differs from its collection. */
export interface Compared {
  readonly table: string
  /** Records of the collection. */
  readonly rows: number
  /** Rows that are missing, that differ, and that should not be there. */
  readonly different: number
}

/** Rows of one table that a statement sees in place of those that the model has. */
export interface Overlay {
  readonly table: ModelTable
  readonly rows: readonly NumberedRow[]
  readonly gone: readonly number[]
}

export interface RowsRequest {
  readonly kind: 'rows'
  /** The source of the rows: the name of a view, or a SELECT. */
  readonly from: ModelSource
  /** The views; a view stands behind the views that it reads. */
  readonly views: readonly ModelView[]
  /** Collections and views that may be read. */
  readonly names: readonly string[]
  readonly limit?: number | undefined
  /** Values of the parameters that a SELECT may have. */
  readonly values?: Readonly<Record<string, Cell>>
  readonly overlays?: readonly Overlay[]
}

/** Rows that are kept. Rows that agree in the order are sorted by id. */
export interface PageRequest extends PageWanted {
  readonly kind: 'page'
  readonly view: string
}

export interface RunRequest {
  readonly kind: 'run'
  readonly schema: ModelSchema
  readonly statements: string
  readonly rowsMax: number
  /** The writes of a transaction that the statements see. */
  readonly overlays: readonly Overlay[]
}

export type ModelRequest =
  /** The request that opens the file, which comes first. Without `file` the model is in the memory of the process. */
  | { readonly kind: 'open'; readonly role: 'keeper' | 'reader'; readonly file: string | undefined }
  /** The steps up to one with `isLast` are one transaction. */
  | { readonly kind: 'feed'; readonly steps: readonly FeedStep[]; readonly isLast: boolean }
  /** Prepares a query on empty tables. It needs no model. */
  | { readonly kind: 'describe'; readonly schema: ModelSchema; readonly query: ModelSource }
  /** Makes indexes on empty tables. */
  | { readonly kind: 'indexes'; readonly programs: readonly IndexProgram[] }
  | RowsRequest
  | PageRequest
  | RunRequest

/** The effect of a turn of the feed. */
export interface Fed {
  /** The columns of tables that have changed; undefined: rows came or went. */
  readonly changed: readonly (readonly [table: string, columns: readonly string[] | undefined])[]
  /** Views whose rows are kept now. */
  readonly kept: readonly ModelView[]
  /** Tables that have been compared whole. */
  readonly compared: readonly Compared[]
  /** The bytes of the whole model. */
  readonly bytes: number
}

/** A column of an answer. */
export interface ResultColumn {
  /** The name: the alias, or the expression. */
  readonly name: string
  /** The type as its table declares it: `TEXT`. Empty for an expression. */
  readonly type: string
  /** PocketBase says true of all. */
  readonly nullable: boolean
}

/** The changes of statements in one table. Rows have the columns in the order of the table. */
export interface TableChanges {
  readonly table: string
  /** Undefined before: the row is new. */
  readonly written: readonly { readonly before: Row | undefined; readonly after: Row }[]
  readonly deleted: readonly string[]
}

/** The result of the statements. */
export interface StatementsResult {
  readonly affectedRows: number
  readonly columns: readonly ResultColumn[]
  readonly rows: readonly (readonly (string | null)[])[]
  /** In the order in which the tables were first written. */
  readonly changes: readonly TableChanges[]
}

/** The answers to requests. */
export interface ModelAnswers {
  readonly open: undefined
  readonly feed: Fed
  readonly describe: DescribedQuery
  /** Why each can't be; undefined: it can. */
  readonly indexes: readonly (string | undefined)[]
  /** Rows have come before, in pieces. */
  readonly rows: readonly string[]
  readonly page: TextRows & { readonly total: number | undefined }
  readonly run: StatementsResult
}

/** Rows with values that JSON has. */
export interface JsonRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

/** `error`: the text for a superuser. */
export type ModelReply =
  | { readonly rows: JsonRows['rows'] }
  | { readonly answer: ModelAnswers[ModelRequest['kind']] }
  /** `isDamaged`: the file can't be read. */
  | { readonly error: string; readonly isDamaged: boolean }
