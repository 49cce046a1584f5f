/**
 * The process of a scratch database: it runs statements of a superuser in memory, with no way to a file. It is a process and no thread,
 * as nothing else ends a statement of SQLite that runs.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { valueText } from './value-text.ts'
import { WriteGate } from './write-gate.ts'
import type { Cell, ResultColumn, Row, ScratchReply, ScratchRequest, ScratchResult } from './scratch-protocol.ts'
import type { ScratchTable, TableChanges } from './scratch-protocol.ts'

const ROWS_MAX = 1000
const VALUE_BYTES_MAX = 16 << 20
const RESULT_CHARS_MAX = 32 << 20
const CHANGES_MAX = 10_000

/** Statements that PocketBase runs for what they change: the answer has no rows. */
const WRITES = /^(?:INSERT|CREATE|UPDATE|DELETE|DROP|DETACH|ALTER|REPLACE)/i

/** SQLite counts no memory here. A statement blocks this thread, so another one looks. */
const WATCH = `setInterval(() => {
  if (process.memoryUsage.rss() > require('node:worker_threads').workerData) process.kill(process.pid, 'SIGKILL')
}, 20)`

class Scratch {
  readonly #database = new DatabaseSync(':memory:', { limits: { length: VALUE_BYTES_MAX } })
  readonly #gate = new WriteGate()
  readonly #tables = new Map<string, ScratchTable>()
  readonly #inserts = new Map<string, StatementSync>()
  /** Tables whose rows are kept as they were. */
  readonly #kept = new Set<string>()

  constructor() {
    this.#database.exec('PRAGMA temp_store = MEMORY')
  }

  add(table: ScratchTable): void {
    const columns = table.columns.map(({ name, declaration }) => `${quoted(name)} ${declaration}`)
    this.#database.exec(`CREATE TABLE ${quoted(table.name)} (${columns.join(', ')})`)
    const places = table.columns.map(() => '?').join(', ')
    this.#inserts.set(table.name, this.#database.prepare(`INSERT INTO ${quoted(table.name)} VALUES (${places})`))
    this.#tables.set(table.name, table)
    this.#gate.add(table)
  }

  fill(table: string, rows: readonly Row[]): void {
    this.#database.exec('BEGIN')
    for (const row of rows) this.#inserts.get(table)!.run(...row)
    this.#database.exec('COMMIT')
  }

  /** @throws Error of SQLite, or of the gate */
  run(statements: string): ScratchResult {
    const given = statements.trim()
    if (given === '') throw new Error('empty query')
    let affectedRows = 0
    let last: Pick<ScratchResult, 'columns' | 'rows'> = { columns: [], rows: [] }
    for (let rest = given; ;) {
      const statement = this.#next(rest)
      if (statement === undefined) break
      last = this.#gated(() => resultOf(statement))
      if (this.#gate.isWrite) affectedRows = Number(this.#all('SELECT changes()')[0]![0])
      rest = rest.slice(statement.sourceSQL.length)
    }
    const changes = [...this.#kept].map((name) => this.#changesOf(this.#tables.get(name)!))
    const count = changes.reduce((sum, { written, deleted }) => sum + written.length + deleted.length, 0)
    if (count > CHANGES_MAX)
      throw new Error(`the statements change ${count} records, and ${CHANGES_MAX} is the limit: change fewer at a time`)
    const isWrite = WRITES.test(given)
    return isWrite
      ? { affectedRows, columns: [], rows: [], changes }
      : { affectedRows: 0, columns: last.columns, rows: last.rows, changes }
  }

  /** The first statement of a text; the tables that it writes are kept first. Undefined: there are only comments. */
  #next(text: string): StatementSync | undefined {
    const statement = this.#prepared(text)
    const unkept = [...this.#gate.written].filter((table) => !this.#kept.has(table))
    if (statement === undefined || unkept.length === 0) return statement
    for (const table of unkept) {
      this.#database.exec(`CREATE TEMP TABLE ${keptName(table)} AS SELECT * FROM main.${quoted(table)}`)
      this.#database.exec(`CREATE INDEX temp.${quoted(`$ids of ${table}`)} ON ${quoted(`$before ${table}`)} (id)`)
      this.#kept.add(table)
    }
    return this.#prepared(text)
  }

  #prepared(text: string): StatementSync | undefined {
    this.#gate.begin()
    try {
      const statement = this.#gated(() => this.#database.prepare(text))
      statement.setReturnArrays(true)
      statement.setReadBigInts(true)
      return statement
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_INVALID_ARG_VALUE') return undefined
      throw error
    }
  }

  /** The gate is asked while a statement is prepared. It is asked again while VACUUM runs, which attaches a file. */
  #gated<T>(run: () => T): T {
    this.#database.setAuthorizer((action, one, other, schema) => this.#gate.admits(action, one, other, schema))
    try {
      return run()
    } catch (error) {
      const { refusal } = this.#gate
      throw refusal === undefined ? error : new Error(refusal, { cause: error })
    } finally {
      this.#database.setAuthorizer(null)
    }
  }

  #changesOf({ name, columns }: ScratchTable): TableChanges {
    const now = `main.${quoted(name)}`
    const before = keptName(name)
    const after = this.#all(`SELECT * FROM ${now} EXCEPT SELECT * FROM ${before}`)
    const at = columns.findIndex((column) => column.name === 'id')
    const find = this.#database.prepare(`SELECT * FROM ${before} WHERE id = ?`)
    find.setReturnArrays(true)
    const written = after.map((row) => ({ before: find.get(row[at]!) as unknown as Row | undefined, after: row }))
    const gone = this.#all(`SELECT id FROM ${before} WHERE id NOT IN (SELECT id FROM ${now})`)
    return { table: name, written, deleted: gone.map(([id]) => id as string) }
  }

  #all(sql: string): readonly Row[] {
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    return statement.all() as unknown as Row[]
  }
}

function keptName(table: string): string {
  return `temp.${quoted(`$before ${table}`)}`
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Runs a statement, as far as its rows are shown. */
function resultOf(statement: StatementSync): Pick<ScratchResult, 'columns' | 'rows'> {
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
    if (rows.length === ROWS_MAX) break
  }
  return { columns, rows }
}

/** As PocketBase words it: `SQL logic error: no such table: nope (1)`. */
function errorText(error: unknown): string {
  const { message, errcode, errstr } = error as Error & { readonly errcode?: number; readonly errstr?: string }
  if (errcode === undefined || errstr === undefined) return message
  return message === errstr ? `${errstr} (${errcode})` : `${errstr}: ${message} (${errcode})`
}

function answer(reply: ScratchReply): void {
  process.send!(reply, () => process.exit())
}

// When the server is gone, so is this.
process.on('disconnect', () => process.exit())
new Worker(WATCH, { eval: true, execArgv: [], workerData: Number(process.argv[2]) }).unref()
const scratch = new Scratch()
process.on('message', (request: ScratchRequest) => {
  try {
    if (request.kind === 'table') scratch.add(request.table)
    else if (request.kind === 'rows') scratch.fill(request.table, request.rows)
    else answer({ result: scratch.run(request.statements) })
  } catch (error) {
    answer({ error: errorText(error) })
  }
})
