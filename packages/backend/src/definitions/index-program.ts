/** One index in an SQLite of its own. The describer of the read model asks whether it can be; then the server makes keys by it. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { quoted, type Cell } from '../fields/sqlite.ts'
import { plainIndex, type IndexBody } from './index-statement.ts'

/** An index on what its text names of a collection. */
export interface IndexProgram extends IndexBody {
  readonly name: string
  readonly table: string
  readonly fields: readonly { readonly name: string; readonly declaration: string }[]
}

/** A value has no more, also one that an expression makes in between. */
const VALUE_BYTES_MAX = 16 << 20
const LIMITS = {
  length: VALUE_BYTES_MAX,
  sqlLength: 1 << 20,
  exprDepth: 1000,
  compoundSelect: 1,
  vdbeOp: 100_000,
  attach: 0,
}

/** On a table of one row. */
export class IndexTable {
  readonly #set: StatementSync
  readonly #get: StatementSync
  /** The collations: each column has one. */
  readonly collations: readonly string[]

  /** @throws Error of SQLite */
  constructor(program: IndexProgram) {
    const { name, table, fields, columns, where } = program
    const { DatabaseSync: Connection } = process.getBuiltinModule('node:sqlite')
    const database = new Connection(':memory:', { enableDoubleQuotedStringLiterals: true, limits: LIMITS })
    const target = quoted(table)
    const declared = fields.map((field) => `${quoted(field.name)} ${field.declaration}`)
    // A record has no rowid.
    database.exec(`CREATE TABLE ${target} (${['"$" INTEGER PRIMARY KEY', ...declared].join(', ')}) WITHOUT ROWID`)
    // It refuses what is no function of the record, some of it with the first row that has it.
    database.prepare(plainIndex(quoted(name), table, program)).run()
    this.collations = collationsOf(database, table)
    if (this.collations.length !== columns.length)
      throw new Error(`the index has ${this.collations.length} columns, and ${columns.length} were read`)
    const names = ['"$"', ...fields.map((field) => quoted(field.name))]
    const places = ['0', ...fields.map(() => '?')]
    this.#set = database.prepare(`INSERT OR REPLACE INTO ${target} (${names.join(', ')}) VALUES (${places.join(', ')})`)
    const values = columns.map(({ sql }) => `(${sql})`).join(', ')
    this.#get = database.prepare(`SELECT ${values} FROM ${target}${where && ` WHERE (${where}\n)`}`)
    this.#get.setReturnArrays(true)
    this.#get.setReadBigInts(true)
  }

  /** The indexed values of a row. Undefined: the condition does not hold. @throws Error of SQLite */
  valuesOf(cells: readonly Cell[]): readonly Cell[] | undefined {
    this.#set.run(...cells)
    return this.#get.get() as unknown as readonly Cell[] | undefined
  }
}

function collationsOf(database: DatabaseSync, table: string): readonly string[] {
  const indexes = 'pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS info'
  const columns = database.prepare(
    `SELECT info.coll FROM ${indexes} WHERE list.origin = 'c' AND info.key ORDER BY info.seqno`,
  )
  return columns.all(table).map(({ coll }) => String(coll).toUpperCase())
}
