/** A PostgreSQL for the tests of a file, if there is one. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { notRun } from '../../../tools/test/not-run.ts'
import { findPostgres, POSTGRES_NEEDED, PostgresServer } from '../../../tools/test/postgres.ts'

export interface OnPostgres {
  readonly server: PostgresServer
  readonly url: string
}

let names = 0

/** The name of a database that no other test of the file has. */
export function newName(): string {
  return `name_${++names}`
}

/** Registers the tests of `cases`. `get()` is for use inside of tests. Where there is no PostgreSQL they are not run. */
export function onPostgres(cases: (get: () => OnPostgres) => void, settings: readonly string[] = []): void {
  if (findPostgres() === undefined) {
    test('PostgreSQL', (context) => notRun(context, POSTGRES_NEEDED))
    return
  }
  describe('PostgreSQL', () => {
    let found: OnPostgres
    beforeAll(async () => {
      names = 0
      const server = await PostgresServer.start(settings)
      found = { server, url: server.make('pannier_test') }
    })
    afterAll(() => found.server[Symbol.asyncDispose]())
    cases(() => found)
  })
}
