/** The gate of a view's query: SQLite asks it about each access. SQLite asks while it prepares the query. */
import { constants, type DatabaseSync, type StatementSync } from 'node:sqlite'
import type { DescribedQuery } from '../definitions/views/view-queries.ts'
import { prepared } from './sqlite.ts'
import { FUNCTIONS } from './write-gate.ts'

/** Tables that SQLite makes of a value. */
const TABLE_FUNCTIONS: readonly string[] = ['json_each', 'json_tree']

export class ReadGate {
  readonly #names: ReadonlySet<string>
  readonly reads: DescribedQuery['reads'][number][] = []
  readonly functions: Set<string> = new Set()

  /** `names`: of collections, and of what is made for the query. */
  constructor(names: Iterable<string>) {
    this.#names = new Set(Array.from([...names, ...TABLE_FUNCTIONS], (name) => name.toLowerCase()))
  }

  /** @throws Error of SQLite if it reads anything else */
  prepare(database: DatabaseSync, sql: string): StatementSync {
    database.setAuthorizer(this.admits)
    try {
      return prepared(database, sql)
    } finally {
      database.setAuthorizer(null)
    }
  }

  /** The parameters are those of SQLite's authorizer. */
  readonly admits = (action: number, one: string | null, other: string | null, _: unknown, by: string | null): number =>
    this.#admits(action, one ?? '', other ?? '', by ?? '') ? constants.SQLITE_OK : constants.SQLITE_DENY

  #admits(action: number, one: string, other: string, by: string): boolean {
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return true
      case constants.SQLITE_READ:
        this.reads.push([one, other, by])
        return this.#names.has(one.toLowerCase())
      case constants.SQLITE_FUNCTION:
        this.functions.add(other.toLowerCase())
        return !FUNCTIONS.has(other.toLowerCase())
      default:
        return false
    }
  }
}
