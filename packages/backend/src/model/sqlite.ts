/** Words of SQL that the processes of the read model say to SQLite. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { plainQuery } from '../definitions/views/view-query.ts'
import { quoted, type Cell } from '../fields/sqlite.ts'
import type { ModelTable, ModelView, Overlay, Row } from './protocol.ts'

/** The schema of the model. A statement that names it in vain finds `no such table`. */
export const MODEL = '"$model"'

/** A statement whose rows are lists, with whole numbers of any size. */
export function prepared(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  return statement
}

export function allRows(database: DatabaseSync, sql: string, ...values: readonly Cell[]): readonly Row[] {
  return prepared(database, sql).all(...values) as unknown as readonly Row[]
}

export function createTable(database: DatabaseSync, schema: string, { name, columns }: ModelTable): void {
  const declared = columns.map((column) => `${quoted(column.name)} ${column.declaration}`)
  database.exec(`CREATE TABLE ${schema}.${quoted(name)} (${declared.join(', ')})`)
}

/** The number of a row, by a name that no column has. */
export function rowId({ columns }: ModelTable): string {
  const names = new Set(columns.map(({ name }) => name.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find((name) => !names.has(name))!
}

export function insertRow(database: DatabaseSync, schema: string, table: ModelTable): StatementSync {
  const names = storedNames(table)
  const places = Array.from({ length: names.length + 1 }, () => '?').join(', ')
  const set = names.map((name) => `${name} = excluded.${name}`).join(', ')
  return database.prepare(
    `INSERT INTO ${schema}.${quoted(table.name)} (${[rowId(table), ...names].join(', ')}) VALUES (${places})
      ON CONFLICT (id) DO UPDATE SET ${set}`,
  )
}

/** The SELECT in parentheses. What follows it is refused, except for blanks and `;`. */
export function selected(query: string): string {
  return `(${plainQuery(query)}\n)`
}

function storedNames({ columns }: ModelTable): readonly string[] {
  return columns.flatMap(({ name, isGenerated = false }) => (isGenerated ? [] : [quoted(name)]))
}

/** A copy of a table of the model, for writes. Statements see it in place of the other one. */
export function shadowTable(database: DatabaseSync, table: ModelTable): void {
  createTable(database, 'main', table)
  const names = [rowId(table), ...storedNames(table)].join(', ')
  const name = quoted(table.name)
  database.exec(`INSERT INTO main.${name} (${names}) SELECT ${names} FROM ${MODEL}.${name}`)
}

/** A copy as a statement sees it. */
export function shadowOverlaid(database: DatabaseSync, { table, rows, gone }: Overlay): void {
  shadowTable(database, table)
  const insert = insertRow(database, 'main', table)
  const remove = database.prepare(`DELETE FROM main.${quoted(table.name)} WHERE ${rowId(table)} = ?`)
  for (const number of gone) remove.run(number)
  for (const row of rows) insert.run(...row)
}

/** Makes a view as PocketBase does: ids are texts. @throws Error of SQLite */
export function createView(database: DatabaseSync, schema: 'main' | 'temp', { name, query }: ModelView): void {
  const view = `${schema}.${quoted(name)}`
  const create = (columns: string): void => {
    database.prepare(`CREATE VIEW ${view} AS SELECT ${columns} FROM ${selected(query)}`).run()
  }
  create('*')
  const columns = allRows(database, 'SELECT name, type FROM pragma_table_info(?, ?)', name, schema)
  if (columns.some(([column, type]) => /^id$/i.test(String(column)) && /^text$/i.test(String(type)))) return
  database.exec(`DROP VIEW ${view}`)
  create(columns.map(([column]) => (column === 'id' ? 'CAST(id AS TEXT) id' : quoted(String(column)))).join(', '))
}
