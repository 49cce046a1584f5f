/** Compares a table of the model with its collection, a few documents at a time, while both change. */
import type { DatabaseSync } from 'node:sqlite'
import { quoted } from '../fields/sqlite.ts'
import type { Compared, ModelTable, Overlay } from './protocol.ts'
import { allRows, createTable, insertRow, MODEL, rowId } from './sqlite.ts'

export class Comparison {
  readonly #database: DatabaseSync
  readonly #table: ModelTable
  /** Numbers of the rows that the collection has. */
  readonly #numbers = new Set<number>()
  #different = 0

  constructor(database: DatabaseSync, table: ModelTable) {
    this.#database = database
    this.#table = table
  }

  /** Rows as the collection has them now, and as SQLite would store them. */
  add({ rows, gone }: Pick<Overlay, 'rows' | 'gone'>): void {
    const name = quoted(this.#table.name)
    const all = `${rowId(this.#table)}, *`
    createTable(this.#database, 'main', this.#table)
    try {
      const insert = insertRow(this.#database, 'main', this.#table)
      for (const row of rows) {
        insert.run(...row)
        this.#numbers.add(row[0])
      }
      for (const number of gone) this.#numbers.delete(number)
      const numbers = `SELECT ${rowId(this.#table)} FROM main.${name}`
      const known = `SELECT ${all} FROM ${MODEL}.${name} WHERE ${rowId(this.#table)} IN (${numbers})`
      const sql = `SELECT count(*) FROM (SELECT ${all} FROM main.${name} EXCEPT ${known})`
      this.#different += Number(allRows(this.#database, sql)[0]![0])
    } finally {
      this.#database.exec(`DROP TABLE main.${name}`)
    }
  }

  /** After the last documents. */
  end(): Compared {
    const { name } = this.#table
    const numbers = allRows(this.#database, `SELECT ${rowId(this.#table)} FROM ${MODEL}.${quoted(name)}`)
    const more = numbers.filter(([number]) => !this.#numbers.has(Number(number))).length
    return { table: name, rows: this.#numbers.size, different: this.#different + more }
  }
}
