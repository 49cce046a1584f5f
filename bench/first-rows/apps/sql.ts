/** Statements for SQLite in browsers and in Node: a JSON column and an index on an expression (https://sqlite.org/expridx.html). */
const CREATED = `(body ->> '$.created')`

type Statement = 'settings' | 'create' | 'insert' | 'firstRows' | 'get'

export const SQL: Readonly<Record<Statement, string>> = {
  settings: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL',
  create: `
    CREATE TABLE IF NOT EXISTS people (id TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS people_created ON people (${CREATED})`,
  insert: 'INSERT INTO people (id, body) VALUES (?, ?)',
  firstRows: `SELECT body FROM people WHERE ${CREATED} >= ? ORDER BY ${CREATED} LIMIT ?`,
  get: 'SELECT body FROM people WHERE id = ?',
}
