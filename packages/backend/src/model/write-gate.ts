/** The gate of a superuser's statements: SQLite asks it about each access. SQLite asks while it prepares them. */
import { constants } from 'node:sqlite'
import type { ModelSchema, ModelTable } from './protocol.ts'

type Name = string | null

/** Pragmas that list tables, columns and indexes, and change nothing. */
const PRAGMAS: ReadonlySet<string> = new Set([
  'foreign_key_list',
  'index_info',
  'index_list',
  'index_xinfo',
  'table_info',
  'table_list',
  'table_xinfo',
])

/** Functions that reach beyond the database. */
export const FUNCTIONS: ReadonlySet<string> = new Set(['load_extension', 'fts3_tokenizer'])

export const NO_FILES = 'ATTACH, DETACH and VACUUM are not allowed: there is one database'

export class WriteGate {
  readonly #tables: ReadonlyMap<string, ModelTable>
  /** The collections in lower case. */
  readonly #collections: ReadonlySet<string>
  /** Tables that the statement may write, in lower case. */
  readonly written: Set<string> = new Set()
  /** Tables that are shadowed: statements see copies. */
  readonly shadowed: Set<string> = new Set()
  /** Whether the statement inserts, updates or deletes rows. */
  isWrite = false
  /** Why it was refused. */
  refusal: string | undefined

  constructor({ tables, views }: ModelSchema) {
    this.#tables = new Map(tables.map((table) => [table.name.toLowerCase(), table]))
    this.#collections = new Set([...this.#tables.keys(), ...views.map(({ name }) => name.toLowerCase())])
  }

  /** Begins a statement. Call it before each. */
  begin(): void {
    this.written.clear()
    this.isWrite = false
    this.refusal = undefined
  }

  /** The parameters are those of SQLite's authorizer. */
  admits(action: number, one: Name, other: Name, schema: Name): number {
    const refusal = this.#refusalOf(action, one, other, schema)
    if (refusal === undefined) return constants.SQLITE_OK
    this.refusal ??= refusal
    return constants.SQLITE_DENY
  }

  #refusalOf(action: number, one: Name, other: Name, schema: Name): string | undefined {
    switch (action) {
      case constants.SQLITE_ATTACH:
      case constants.SQLITE_DETACH:
        return NO_FILES
      case constants.SQLITE_PRAGMA:
        return PRAGMAS.has((one ?? '').toLowerCase()) ? undefined : `PRAGMA ${one} is not allowed`
      case constants.SQLITE_TRANSACTION:
      case constants.SQLITE_SAVEPOINT:
        return 'the statements of a request are one transaction: leave out BEGIN, COMMIT, ROLLBACK and SAVEPOINT'
      case constants.SQLITE_FUNCTION:
        return FUNCTIONS.has(other ?? '') ? `${other}() is not allowed` : undefined
      case constants.SQLITE_CREATE_VTABLE:
      case constants.SQLITE_DROP_VTABLE:
        return 'virtual tables are not allowed'
      case constants.SQLITE_INSERT:
      case constants.SQLITE_DELETE:
        return this.#writeRefusal(one, undefined, schema)
      case constants.SQLITE_UPDATE:
        return this.#writeRefusal(one, other ?? undefined, schema)
      case constants.SQLITE_CREATE_TABLE:
      case constants.SQLITE_CREATE_VIEW:
        return this.#isCollection(one) ? `table ${one} already exists` : undefined
      case constants.SQLITE_DROP_TEMP_VIEW:
        return this.#changeRefusal(one, 'main')
      case constants.SQLITE_DROP_TABLE:
        return this.#changeRefusal(one, schema)
      case constants.SQLITE_ALTER_TABLE:
        return this.#changeRefusal(other, one)
      case constants.SQLITE_CREATE_INDEX:
      case constants.SQLITE_CREATE_TRIGGER:
      case constants.SQLITE_CREATE_TEMP_TRIGGER:
      case constants.SQLITE_DROP_INDEX:
      case constants.SQLITE_DROP_TRIGGER:
        return this.#changeRefusal(other, 'main')
      default:
        return undefined
    }
  }

  #writeRefusal(name: Name, column: string | undefined, schema: Name): string | undefined {
    // Those of SQLite are written by DDL, and SQLite lets no statement name them.
    if (name?.startsWith('sqlite_') === true) return undefined
    if (name?.startsWith('$') === true) return `no such table: ${name}`
    this.isWrite = true
    const key = (name ?? '').toLowerCase()
    const table = schema === 'temp' ? undefined : this.#tables.get(key)
    if (table === undefined) return undefined
    // It was copied: who names the model all the same would write there.
    if (schema !== 'main' && this.shadowed.has(key)) return `no such table: ${name}`
    if (table.isReadOnly === true) return `${table.name} is a database: write its documents by CouchDB's API`
    if (column === 'id') return `the id of a record can't change: insert a new record in ${table.name}`
    if (table.columns.some(({ name: known, isSecret = false }) => isSecret && known === column))
      return `${table.name}.${column} can't be set by SQL: use the records of the API`
    this.written.add(key)
    return undefined
  }

  #changeRefusal(name: Name, schema: Name): string | undefined {
    if (name?.startsWith('$') === true) return `no such table: ${name}`
    if (schema === 'temp' || !this.#isCollection(name)) return undefined
    if (this.#tables.get((name ?? '').toLowerCase())?.isReadOnly === true) return `${name} is a database`
    return `${name} is a collection: change its fields, indexes and name by /api/collections`
  }

  #isCollection(name: Name): boolean {
    return this.#collections.has((name ?? '').toLowerCase())
  }
}
