/** Several PostgreSQLs for the tests of a file: databases of one server, which know nothing of one another. */
import { isPannierError } from 'pannier'
import { systemEnvironment } from 'pannier/internal'
import type { OnePostgres } from '../src/one-postgres.ts'
import { OnePostgres as One } from '../src/one-postgres.ts'
import { allSettings } from '../src/options.ts'
import { Places } from '../src/places.ts'
import { newName, type OnPostgres } from './on-postgres.ts'

/** New ones, by their URLs. */
export function several({ server }: OnPostgres, count: number): string[] {
  const run = newName()
  return Array.from({ length: count }, (_, n) => server.make(`several_${run}_${n}`))
}

/** For moves that are watched step by step. Call `leave` on it at the end. */
export function placesAt(urls: readonly string[]): Places {
  const places = new Places(
    allSettings(urls, {}).map((settings): OnePostgres => new One(settings, systemEnvironment())),
  )
  places.join()
  return places
}

/** Where copies of a database are, and whether each can be opened. */
export function copiesOf(
  { server }: OnPostgres,
  urls: readonly string[],
  name: string,
): { at: number; isOpen: boolean }[] {
  return urls.flatMap((url, at) => {
    const database = new URL(url).pathname.slice(1)
    const hasTables = server.sql(database, `select to_regclass('pannier.fence') is not null`) === 't'
    if (!hasTables) return []
    const text = `select f.away is null from pannier.database d join pannier.fence f on f.database = d.id where d.name = '${name}'`
    return server
      .sql(database, text)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ at, isOpen: line === 't' }))
  })
}

/** Moves again where a busy machine had the writers wait for as long as they may, so that nothing has moved. */
export async function moved(move: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await move()
    } catch (error) {
      if (tries === 10 || !isPannierError(error, 'PANNIER_STALE')) throw error
    }
}
