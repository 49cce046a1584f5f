/** The suites on `bun:sqlite`: `bun program.mjs FOLDER/`. Its last line is JSON, the outcome. */
import { rmSync } from 'node:fs'
import { argv } from 'node:process'
import { Database } from 'bun:sqlite'
import { sqliteStorage } from '../src/index.ts'
import { runSuites } from './run-suites.ts'

const storage = sqliteStorage({
  kind: 'bun:sqlite',
  open(path) {
    const file = new Database(path)
    return {
      all: (sql, parameters) => file.query(sql).all(...parameters),
      run: (sql, parameters) => file.query(sql).run(...parameters).changes,
      close: () => file.close(),
    }
  },
  destroy(path) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  },
})
console.log(JSON.stringify(await runSuites(storage, argv[2])))
