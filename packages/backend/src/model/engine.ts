/**
 * A part of the read model: a keeper that writes it, or a reader of it. Nothing here is the truth, and nothing of it is missed when its
 * process is killed.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { IndexTable, type IndexProgram } from '../definitions/index-program.ts'
import type { DescribedQuery } from '../definitions/views/view-queries.ts'
import { errorText, quoted, type Cell } from '../fields/sqlite.ts'
import type {
  CompareStep,
  Compared,
  Fed,
  FeedStep,
  ModelAnswers,
  ModelReply,
  ModelRequest,
  ModelSchema,
  ModelSource,
  ModelTable,
  RowsRequest,
} from './protocol.ts'
import { Comparison } from './comparison.ts'
import { KeptRows, readPage } from './kept-rows.ts'
import { ReadGate } from './read-gate.ts'
import { allRows, createTable, createView, insertRow, MODEL, prepared } from './sqlite.ts'
import { rowId, selected, shadowOverlaid } from './sqlite.ts'
import { Statements } from './statements.ts'
import { jsonValue, valueText } from './value-text.ts'

const VALUE_BYTES_MAX = 16 << 20
/** A record may have more in one value than a query. */
const STORED_BYTES_MAX = 1 << 28
const LIMITS = {
  length: VALUE_BYTES_MAX,
  sqlLength: 1 << 20,
  exprDepth: 1000,
  compoundSelect: 500,
  vdbeOp: 1_000_000,
  attach: 1,
}
const PIECE_ROWS = 1000
const VIEW_CHARS_MAX = 128 << 20
/** As an answer may have. */
const QUERY_CHARS_MAX = 16 << 20

type Reply = (reply: ModelReply) => void

/** A table that the keeper writes. */
interface KeptTable {
  readonly table: ModelTable
  readonly insert: StatementSync
  readonly find: StatementSync
  readonly remove: StatementSync
  rows: number
  /** No row has a higher number. */
  highest: number
  /** Rows when SQLite last counted what it plans with. */
  analyzed: number
}

export class Engine {
  readonly #database: DatabaseSync
  readonly #kept = new Map<string, KeptTable>()
  readonly #keptRows: KeptRows
  /** By the name of the table. */
  readonly #comparisons = new Map<string, Comparison>()
  /** The tables that the open transaction of the keeper has changed, if one is open. */
  #changed: Map<string, Set<string> | undefined> | undefined
  /** Requests that wait for its end. */
  readonly #waiting: (() => void)[] = []

  constructor() {
    this.#database = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: true, limits: LIMITS })
    this.#database.exec('PRAGMA temp_store = MEMORY')
    this.#keptRows = new KeptRows(this.#database)
  }

  handle(request: ModelRequest, reply: Reply): void {
    const answer = (): void => {
      try {
        reply({ answer: this.#answer(request, reply) })
      } catch (error) {
        reply({ error: errorText(error), isDamaged: isDamage(error) })
      }
    }
    if (this.#changed !== undefined && request.kind !== 'feed') this.#waiting.push(answer)
    else answer()
    if (this.#changed === undefined) for (const next of this.#waiting.splice(0)) next()
  }

  close(): void {
    this.#database.close()
  }

  #answer(request: ModelRequest, reply: Reply): ModelAnswers[ModelRequest['kind']] {
    switch (request.kind) {
      case 'open':
        return this.#open(request)
      case 'feed':
        return this.#feed(request.steps, request.isLast)
      case 'describe':
        return describe(request.schema, request.query)
      case 'indexes':
        return request.programs.map(refusalOf)
      case 'rows':
        return this.#undone(() => this.#rows(request, reply))
      case 'page':
        return this.#undone(() => readPage(this.#database, request))
      case 'run':
        return this.#undone(() => new Statements(this.#database, request).run(request.statements, request.rowsMax))
    }
  }

  #open({ role, file }: Extract<ModelRequest, { readonly kind: 'open' }>): undefined {
    const isReader = role === 'reader' && file !== undefined
    const place = file === undefined ? ':memory:' : isReader ? `file:${encodeURI(file)}?mode=ro` : file
    this.#database.prepare(`ATTACH ? AS ${MODEL}`).run(place)
    if (file !== undefined && !isReader)
      this.#database.exec(`PRAGMA ${MODEL}.journal_mode = WAL; PRAGMA ${MODEL}.synchronous = OFF`)
  }

  #feed(steps: readonly FeedStep[], isLast: boolean): Fed {
    if (this.#changed === undefined) this.#database.exec('BEGIN IMMEDIATE')
    const changed = (this.#changed ??= new Map<string, Set<string> | undefined>())
    this.#database.limits.length = STORED_BYTES_MAX
    for (const step of steps) this.#apply(step, changed)
    if (!isLast) return { changed: [], kept: [], compared: [], bytes: 0 }
    this.#keptRows.mend()
    const compared = steps.flatMap((step) => (step.kind === 'compare' ? this.#compare(step) : []))
    for (const { table, rows, analyzed } of this.#kept.values()) {
      if (rows < 2 * analyzed || rows === 0) continue
      this.#database.exec(`ANALYZE ${MODEL}.${quoted(table.name)}`)
      this.#kept.get(table.name)!.analyzed = rows
    }
    this.#database.exec('COMMIT')
    this.#changed = undefined
    const [pages, size] = ['page_count', 'page_size'].map((name) => this.#pragma(name))
    return {
      changed: Array.from(changed, ([table, columns]) => [table, columns && [...columns]] as const),
      kept: this.#keptRows.views,
      compared,
      bytes: pages! * size!,
    }
  }

  #pragma(name: string): number {
    return Number(allRows(this.#database, `PRAGMA ${MODEL}.${name}`)[0]![0])
  }

  #apply(step: FeedStep, changed: Map<string, Set<string> | undefined>): void {
    if (step.kind === 'compare') return
    if (step.kind === 'keep') return this.#keptRows.keep(step.view)
    if (step.kind === 'forget') return this.#keptRows.drop(step.view)
    if (step.kind === 'order') return this.#keptRows.order(step.view, step.order)
    if (step.kind === 'table') {
      this.#keptRows.clear()
      changed.set(step.table.name, undefined)
      this.#make(step.table)
      return
    }
    if (step.kind === 'drop') {
      this.#keptRows.clear()
      changed.set(step.table, undefined)
      this.#database.exec(`DROP TABLE IF EXISTS ${MODEL}.${quoted(step.table)}`)
      this.#kept.delete(step.table)
      return
    }
    const kept = this.#kept.get(step.table)
    if (kept === undefined) return
    const { table, insert, find, remove } = kept
    const note = (columns: readonly string[] | undefined): void => {
      const known = changed.has(table.name) ? changed.get(table.name) : new Set<string>()
      if (columns !== undefined) for (const column of columns) known?.add(column)
      changed.set(table.name, columns && known)
    }
    const idAt = table.columns.findIndex(({ name }) => name === 'id')
    const isRead = this.#keptRows.reads(table.name)
    const noteId = (id: Cell | undefined): void => {
      if (isRead && id !== undefined) this.#keptRows.note(table.name, id)
    }
    if (step.kind === 'gone') {
      for (const number of step.numbers) {
        const row = isRead ? (find.get(number) as unknown as readonly Cell[] | undefined) : undefined
        noteId(row?.[idAt])
        kept.rows -= Number(remove.run(number).changes)
      }
      note(undefined)
      return
    }
    for (const row of step.rows) {
      const isNew = row[0] > kept.highest
      const before = isNew ? undefined : (find.get(row[0]) as unknown as readonly Cell[] | undefined)
      if (isNew) kept.highest = row[0]
      noteId(before?.[idAt])
      insert.run(...row)
      noteId(row[idAt + 1])
      if (before === undefined) {
        kept.rows++
        note(undefined)
      } else if (changed.get(table.name) !== undefined || !changed.has(table.name)) {
        const after = find.get(row[0]) as unknown as readonly Cell[]
        note(table.columns.flatMap(({ name }, at) => (before[at] === after[at] ? [] : [name])))
      }
    }
  }

  #compare({ table, rows, gone, isFirst, isLast }: CompareStep): readonly Compared[] {
    const known = this.#kept.get(table)
    if (known === undefined) return [{ table, rows: rows.length, different: rows.length }]
    if (isFirst) this.#comparisons.set(table, new Comparison(this.#database, known.table))
    const comparison = this.#comparisons.get(table)!
    comparison.add({ rows, gone })
    if (!isLast) return []
    this.#comparisons.delete(table)
    return [comparison.end()]
  }

  /** A table that SQLite refuses is not there. */
  #make(table: ModelTable): void {
    const name = `${MODEL}.${quoted(table.name)}`
    try {
      // An index of another table may have the name.
      this.#database.exec(`DROP INDEX IF EXISTS ${name}`)
      createTable(this.#database, MODEL, table)
    } catch {
      return
    }
    for (const index of table.indexes) {
      try {
        this.#database.prepare(index).run()
      } catch {
        // It makes no query wrong.
      }
    }
    const id = rowId(table)
    this.#kept.set(table.name, {
      table,
      insert: insertRow(this.#database, MODEL, table),
      find: prepared(this.#database, `SELECT * FROM ${name} WHERE ${id} = ?`),
      remove: this.#database.prepare(`DELETE FROM ${name} WHERE ${id} = ?`),
      rows: 0,
      highest: 0,
      analyzed: 0,
    })
  }

  /** Nothing of what it makes stays. It reads one state. */
  #undone<T>(run: () => T): T {
    this.#database.limits.length = VALUE_BYTES_MAX
    this.#database.exec('BEGIN')
    try {
      return run()
    } finally {
      this.#database.exec('ROLLBACK')
    }
  }

  #rows({ from, views, names, limit, values = {}, overlays = [] }: RowsRequest, reply: Reply): readonly string[] {
    for (const overlay of overlays) shadowOverlaid(this.#database, overlay)
    for (const view of views) createView(this.#database, 'temp', view)
    const isView = from.name !== undefined
    if (isView) createView(this.#database, 'temp', from)
    const end = limit === undefined ? '' : ` LIMIT ${limit}`
    const gate = new ReadGate(names)
    const source = isView ? `temp.${quoted(from.name)}` : selected(from.query)
    const statement = gate.prepare(this.#database, `SELECT * FROM ${source}${end}`)
    statement.setAllowUnknownNamedParameters(true)
    const charsMax = isView ? VIEW_CHARS_MAX : QUERY_CHARS_MAX
    let piece: (readonly (string | number | null)[])[] = []
    let chars = 0
    for (const row of statement.iterate(values) as Iterable<unknown> as Iterable<readonly Cell[]>) {
      const cells = row.map(isView ? valueText : jsonValue)
      for (const cell of cells) chars += typeof cell === 'string' ? cell.length : 1
      if (chars > charsMax) throw new Error(`the rows have more than ${charsMax} characters`)
      if (piece.push(cells) < PIECE_ROWS) continue
      reply({ rows: piece })
      piece = []
    }
    if (piece.length > 0) reply({ rows: piece })
    return statement.columns().map(({ name }) => name)
  }
}

/** SQLite's codes for a file that was cut, or is gone: SQLITE_IOERR, CORRUPT, CANTOPEN, NOTADB. */
const DAMAGES: readonly unknown[] = [10, 11, 14, 26]

function isDamage(error: unknown): boolean {
  const { errcode = 0 } = error as { readonly errcode?: number }
  return DAMAGES.includes(errcode & 0xff)
}

/** In a database of its own, where names are as in PocketBase's. */
function describe({ tables, views }: ModelSchema, query: ModelSource): DescribedQuery {
  const database = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: true, limits: LIMITS })
  try {
    for (const table of tables) unlessRefused(() => createTable(database, 'main', table))
    for (const view of views) unlessRefused(() => createView(database, 'main', view))
    const isView = query.name !== undefined
    const gate = new ReadGate([...tables, ...views, ...(isView ? [query] : [])].map(({ name }) => name))
    if (isView) {
      database.exec(`DROP VIEW IF EXISTS ${quoted(query.name)}`)
      createView(database, 'main', query)
    }
    const statement = gate.prepare(database, `SELECT * FROM ${isView ? quoted(query.name) : selected(query.query)}`)
    const columns = statement.columns().map(({ name }) => name)
    const reads = gate.reads.map(([table, column, by]) => [table, column, by === query.name ? '' : by] as const)
    return { columns, reads, functions: [...gate.functions] }
  } catch (error) {
    return { error: errorText(error), columns: [], reads: [], functions: [] }
  } finally {
    database.close()
  }
}

/** Why an index can't be, on an empty table. */
function refusalOf(program: IndexProgram): string | undefined {
  try {
    new IndexTable(program)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

function unlessRefused(make: () => void): void {
  try {
    make()
  } catch {
    // What names it says so.
  }
}
