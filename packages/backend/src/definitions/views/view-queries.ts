/** SQLite's answers about the queries of views, and about indexes. The read model asks it. */
import type { Definition, ViewDefinition } from '../definition.ts'
import type { IndexProgram } from '../index-program.ts'

/** SQLite, or a limit, has refused a statement. The message is for a superuser. */
export class SqlRefusal extends Error {}

/** A query, as SQLite has prepared it. */
export interface DescribedQuery {
  /** The error: why it can't be. */
  readonly error?: string
  readonly columns: readonly string[]
  /** `[table, column, view]`: what is read, and by which view; in the query itself by none. A count reads the column ''. */
  readonly reads: readonly (readonly [table: string, column: string, by: string])[]
  /** The functions in lower case. */
  readonly functions: readonly string[]
}

/** Rows of a view, as texts. */
export interface TextRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}

export interface ViewQueries {
  /** Prepares views without running them, with all definitions that they may read. */
  describe(views: readonly ViewDefinition[], all: readonly Definition[]): Promise<readonly DescribedQuery[]>
  /** Why each of these can't be, on an empty table; undefined: it can. */
  indexErrors(programs: readonly IndexProgram[]): Promise<readonly (string | undefined)[]>
  /** The first rows of a view that is not stored yet. @throws SqlRefusal */
  sample(view: ViewDefinition, all: readonly Definition[], limit: number): Promise<TextRows>
}
