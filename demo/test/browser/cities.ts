/** A server with the cities, for the tests of their page. */
import { open } from 'pannier'
import type { Database } from 'pannier'
import { memory } from 'pannier/memory'
import { freePort } from '../../../tools/processes.ts'
import { readAllCities } from '../../node/all-cities.ts'
import { loadCities } from '../../node/load.ts'
import { serve } from '../../node/server.ts'
import type { CityServer } from '../../node/server.ts'
import { once, onePage } from './steps.ts'

const DOCUMENTS = 1_000

/** Made once: they take a second. */
const someCities = once(() => readAllCities(DOCUMENTS))

export async function withServer(use: (server: CityServer) => Promise<void>): Promise<void> {
  await withDatabase(async (database) => {
    const server = await serve({ database, assets: await onePage(), port: await freePort() })
    try {
      await use(server)
    } finally {
      await server.close()
    }
  })
}

export async function withDatabase(use: (db: Database) => Promise<void>): Promise<void> {
  await using db = await open('served', { storage: memory() })
  await loadCities(db, someCities())
  await use(db)
}
