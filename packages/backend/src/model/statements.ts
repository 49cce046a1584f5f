/** Statements of a superuser on the read model. What they write is written to copies, and what has changed there is the answer. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { quoted, type Cell } from '../fields/sqlite.ts'
import { allRows, createView, MODEL, prepared, shadowOverlaid, shadowTable } from './sqlite.ts'
import { valueText } from './value-text.ts'
import { NO_FILES, WriteGate } from './write-gate.ts'
import type { ModelTable, ResultColumn, Row, RunRequest, StatementsResult, TableChanges } from './protocol.ts'

const RESULT_CHARS_MAX = 32 << 20
const CHANGES_MAX = 10_000

/** Statements that PocketBase runs for what they change: the answer has no rows. */
const WRITES = /^(?:INSERT|CREATE|UPDATE|DELETE|DROP|DETACH|ALTER|REPLACE)/i

/** Runs inside a transaction that is rolled back afterwards. */
export class Statements {
  readonly #database: DatabaseSync
  readonly #gate: WriteGate
  readonly #tables: ReadonlyMap<string, ModelTable>
  /** The tables as they are before the statements, where that is not as in the model. */
  readonly #before = new Map<string, string>()

  constructor(database: DatabaseSync, { schema, overlays }: Pick<RunRequest, 'schema' | 'overlays'>) {
    this.#database = database
    this.#gate = new WriteGate(schema)
    this.#tables = new Map(schema.tables.map((table) => [table.name.toLowerCase(), table]))
    for (const overlay of overlays) {
      const { name } = overlay.table
      const before = `main.${quoted(`$before ${name}`)}`
      shadowOverlaid(database, overlay)
      database.exec(`CREATE TABLE ${before} AS SELECT * FROM main.${quoted(name)}`)
      this.#before.set(name, before)
      this.#gate.shadowed.add(name.toLowerCase())
    }
    for (const view of schema.views) {
      try {
        createView(database, 'temp', view)
      } catch {
        // SQLite names it where it is read.
      }
    }
  }

  /** `rowsMax`: the rows of the result after that are left out. @throws Error of SQLite, or of the gate */
  run(statements: string, rowsMax: number): StatementsResult {
    const given = statements.trim()
    if (given === '') throw new Error('empty query')
    let affectedRows = 0
    let last: Pick<StatementsResult, 'columns' | 'rows'> = { columns: [], rows: [] }
    for (let rest = given; ;) {
      const statement = this.#next(rest)
      if (statement === undefined) break
      last = this.#gated(() => resultOf(statement, rowsMax))
      if (this.#gate.isWrite) affectedRows = Number(allRows(this.#database, 'SELECT changes()')[0]![0])
      rest = rest.slice(statement.sourceSQL.length)
    }
    const changes = Array.from(this.#gate.shadowed, (name) => this.#changesOf(this.#tables.get(name)!))
    const count = changes.reduce((sum, { written, deleted }) => sum + written.length + deleted.length, 0)
    if (count > CHANGES_MAX)
      throw new Error(`the statements change ${count} records, and ${CHANGES_MAX} is the limit: change fewer at a time`)
    return WRITES.test(given) ? { affectedRows, columns: [], rows: [], changes } : { affectedRows: 0, ...last, changes }
  }

  /** The first statement of a text; the tables that it writes are copied first. Undefined: there are only comments. */
  #next(text: string): StatementSync | undefined {
    for (;;) {
      const { statement, missing } = this.#prepared(text)
      const unkept = [...this.#gate.written, ...missing].filter((name) => !this.#gate.shadowed.has(name))
      if (unkept.length === 0) return statement
      for (const name of unkept) {
        shadowTable(this.#database, this.#tables.get(name)!)
        this.#gate.shadowed.add(name)
      }
    }
  }

  /** `missing`: a table of the model that has to be in `main`, as triggers and views of the statements find nothing else. */
  #prepared(text: string): { readonly statement: StatementSync | undefined; readonly missing: readonly string[] } {
    this.#gate.begin()
    try {
      return { statement: this.#gated(() => prepared(this.#database, text)), missing: [] }
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_INVALID_ARG_VALUE') return { statement: undefined, missing: [] }
      const [, name = ''] = /^no such table: main\.(\w+)$/.exec((error as Error).message) ?? []
      const table = name.toLowerCase()
      if (!this.#tables.has(table) || this.#gate.shadowed.has(table)) throw error
      return { statement: undefined, missing: [table] }
    }
  }

  /** The gate is asked while a statement is prepared. */
  #gated<T>(run: () => T): T {
    this.#database.setAuthorizer((action, one, other, schema) => this.#gate.admits(action, one, other, schema))
    try {
      return run()
    } catch (error) {
      const refusal = this.#gate.refusal ?? refusalOf(error)
      throw refusal === undefined ? error : new Error(refusal, { cause: error })
    } finally {
      this.#database.setAuthorizer(null)
    }
  }

  #changesOf({ name, columns }: ModelTable): TableChanges {
    const now = `main.${quoted(name)}`
    const before = this.#before.get(name) ?? `${MODEL}.${quoted(name)}`
    const after = this.#all(`SELECT * FROM ${now} EXCEPT SELECT * FROM ${before}`)
    const at = columns.findIndex((column) => column.name === 'id')
    const find = this.#database.prepare(`SELECT * FROM ${before} WHERE id = ?`)
    find.setReturnArrays(true)
    const written = after.map((row) => ({ before: find.get(row[at]!) as unknown as Row | undefined, after: row }))
    const gone = this.#all(`SELECT id FROM ${before} WHERE id NOT IN (SELECT id FROM ${now})`)
    return { table: name, written, deleted: gone.map(([id]) => id as string) }
  }

  /** Numbers are those of JavaScript. */
  #all(sql: string): readonly Row[] {
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    return statement.all() as unknown as readonly Row[]
  }
}

/** All runs in a transaction, where VACUUM is refused before the gate is asked. */
function refusalOf(error: unknown): string | undefined {
  return (error as Error).message === 'cannot VACUUM from within a transaction' ? NO_FILES : undefined
}

/** Runs a statement, as far as its rows are shown. */
function resultOf(statement: StatementSync, rowsMax: number): Pick<StatementsResult, 'columns' | 'rows'> {
  const columns = statement.columns().map(({ name, type }): ResultColumn => {
    return { name, type: (type ?? '').toUpperCase(), nullable: true }
  })
  if (columns.length === 0) {
    statement.run()
    return { columns, rows: [] }
  }
  const rows: (readonly (string | null)[])[] = []
  let chars = 0
  for (const row of statement.iterate() as Iterable<unknown> as Iterable<readonly Cell[]>) {
    const texts = row.map(valueText)
    for (const text of texts) chars += text?.length ?? 0
    if (chars > RESULT_CHARS_MAX)
      throw new Error(`the rows have more than ${RESULT_CHARS_MAX} characters: select fewer rows or columns`)
    rows.push(texts)
    if (rows.length === rowsMax) break
  }
  return { columns, rows }
}
