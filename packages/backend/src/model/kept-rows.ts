/** The rows of views that are read often, kept by their ids: a change of a record makes only the rows again that it is about. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { quoted, type Cell } from '../fields/sqlite.ts'
import type { OrderColumn } from '../definitions/views/view-reader.ts'
import type { KeptView, ModelAnswers, PageRequest, Row } from './protocol.ts'
import { ReadGate } from './read-gate.ts'
import { allRows, createView, MODEL, prepared } from './sqlite.ts'
import { valueText } from './value-text.ts'

/** If a larger part of the rows has to be made again, making all of them is quicker. */
const STALE_PART_MAX = 1 / 8
/** This number of rows is made one by one in any case. */
const STALE_MIN = 100
/** Each order costs every change of a row. */
const ORDERS_MAX = 4

interface Kept {
  readonly view: KeptView
  /** By the name of the table. */
  readonly ids: ReadonlyMap<string, readonly StatementSync[]>
  readonly remove: StatementSync
  readonly make: StatementSync
  /** Makes all rows in an empty table. */
  readonly makeAll: StatementSync
  /** Ids whose rows have to be made again. Undefined: all have. */
  stale: Set<Cell> | undefined
  /** Rows when all were made. */
  rows: number
  /** Orders that have an index. */
  orders: number
}

export class KeptRows {
  readonly #database: DatabaseSync
  readonly #kept = new Map<string, Kept>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get views(): readonly KeptView[] {
    return Array.from(this.#kept.values(), ({ view }) => view)
  }

  /** Nothing is kept if SQLite would have to go through a table for one id, also with an index for each column that joins. */
  keep(view: KeptView): void {
    this.drop(view.name)
    const [source, target] = namesOf(view.name)
    try {
      createView(this.#database, 'temp', { name: source, query: view.query })
      const columns = allRows(this.#database, 'SELECT name FROM pragma_table_info(?, ?)', source, 'temp')
      // Columns without a type keep values as they are.
      this.#database.exec(`CREATE TABLE ${target} (${columns.map(([name]) => quoted(String(name))).join(', ')})`)
      this.#database.exec(
        `CREATE UNIQUE INDEX ${MODEL}.${quoted(`$ids ${view.name}`)} ON ${quoted(`$kept ${view.name}`)} (id)`,
      )
      const gate = new ReadGate([source, ...view.sources.map(({ table }) => table)])
      const rows = `SELECT * FROM temp.${quoted(source)}`
      const asked = [`${rows} WHERE id IS ?`, ...view.sources.map((each) => each.ids)]
      const scans = (): boolean => asked.some((sql) => this.#scans(gate, sql))
      if (scans()) for (const join of view.joins) this.#database.exec(indexOf(join))
      if (scans()) throw new Error('One row needs all rows of a table.')
      const ids = new Map<string, StatementSync[]>()
      for (const { table, ids: sql } of view.sources)
        ids.set(table, [...(ids.get(table) ?? []), prepared(this.#database, sql)])
      const kept: Kept = {
        view,
        ids,
        remove: this.#database.prepare(`DELETE FROM ${target} WHERE id IS ?`),
        make: this.#database.prepare(`INSERT INTO ${target} ${rows} WHERE id IS ?`),
        makeAll: this.#database.prepare(`INSERT INTO ${target} ${rows}`),
        stale: new Set(),
        rows: 0,
        orders: 0,
      }
      makeAll(kept)
      this.#kept.set(view.name, kept)
    } catch {
      this.drop(view.name)
    }
  }

  drop(name: string): void {
    const [source, target] = namesOf(name)
    this.#kept.delete(name)
    this.#database.exec(`DROP TABLE IF EXISTS ${target}; DROP VIEW IF EXISTS temp.${quoted(source)}`)
  }

  clear(): void {
    for (const name of this.#kept.keys()) this.drop(name)
  }

  reads(table: string): boolean {
    return Array.from(this.#kept.values()).some(({ ids }) => ids.has(table))
  }

  /** Pages in this order need not sort. */
  order(name: string, order: PageRequest['order']): void {
    const kept = this.#kept.get(name)
    if (kept === undefined || kept.orders === ORDERS_MAX) return
    const index = `${MODEL}.${quoted(`$order ${kept.orders++} ${name}`)}`
    try {
      this.#database.exec(`CREATE INDEX ${index} ON ${quoted(`$kept ${name}`)} (${orderBy(order)})`)
    } catch {
      // Pages in this order are sorted.
    }
  }

  /** Comes before a record changes, and after it. */
  note(table: string, id: Cell): void {
    for (const kept of this.#kept.values()) {
      const statements = kept.ids.get(table)
      if (statements === undefined || kept.stale === undefined) continue
      for (const statement of statements)
        for (const [key] of statement.all(id) as unknown as readonly Row[]) kept.stale.add(key!)
      if (kept.stale.size > STALE_MIN + kept.rows * STALE_PART_MAX) kept.stale = undefined
    }
  }

  /** Makes the rows again that have changed. Comes at the end of the transaction. */
  mend(): void {
    for (const kept of this.#kept.values()) {
      const { view, stale, remove, make } = kept
      try {
        for (const id of stale ?? []) {
          remove.run(id)
          make.run(id)
        }
        if (stale === undefined) {
          this.#database.exec(`DELETE FROM ${namesOf(view.name)[1]}`)
          makeAll(kept)
        }
        kept.stale = new Set()
      } catch {
        this.drop(view.name)
      }
    }
  }

  #scans(gate: ReadGate, sql: string): boolean {
    const steps = gate.prepare(this.#database, `EXPLAIN QUERY PLAN ${sql}`).all(null) as unknown as readonly Row[]
    return steps.some((step) => /^SCAN (?!\(|\$view )/.test(String(step[3])))
  }
}

function makeAll(kept: Kept): void {
  kept.rows = Number(kept.makeAll.run().changes)
}

/** The index of a join, which goes with the table. */
function indexOf({ table, column }: KeptView['joins'][number]): string {
  const name = `${MODEL}.${quoted(`$join ${table} ${column}`)}`
  return `CREATE INDEX IF NOT EXISTS ${name} ON ${quoted(table)} (${quoted(column)})`
}

/** Rows of a page, from those that are kept. @throws Error of SQLite if they are not */
export function readPage(database: DatabaseSync, request: PageRequest): ModelAnswers['page'] {
  const { view, order, skip, limit, withTotal } = request
  const [, target] = namesOf(view)
  const page = prepared(database, `SELECT * FROM ${target} ORDER BY ${orderBy(order)} LIMIT ? OFFSET ?`)
  const rows = (page.all(limit, skip) as unknown as readonly Row[]).map((row) => row.map(valueText))
  const total = withTotal ? Number(allRows(database, `SELECT count(*) FROM ${target}`)[0]![0]) : undefined
  return { columns: page.columns().map(({ name }) => name), rows, total }
}

function orderBy(order: PageRequest['order']): string {
  return [...order.map(orderOf), 'id'].join(', ')
}

/** As rules compare values of the field: a row without a value has an empty one. */
function orderOf({ name, kind, descending }: OrderColumn): string {
  const column = quoted(name)
  // Only a text can be JSON: reading it is what costs.
  const inJson = `CASE WHEN typeof(${column}) <> 'text' OR NOT json_valid(${column}) THEN ${column} ELSE json_extract(${column}, '$') END`
  const value = kind === 'json' ? inJson : `coalesce(${column}, ${kind === 'text' ? "''" : 0})`
  return `${value}${descending ? ' DESC' : ''}`
}

function namesOf(view: string): readonly [source: string, target: string] {
  return [`$view ${view}`, `${MODEL}.${quoted(`$kept ${view}`)}`]
}
