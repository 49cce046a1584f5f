/**
 * Pannier's server with the cities, the tasks and their pages, for visitors of this machine. The cities need no password.
 */
import { createServer as createSocketServer } from 'node:net'
import { createServer, SYSTEM } from '@pannier/server'
import type { PannierServer } from '@pannier/server'
import type { Database } from 'pannier'
import { COLLECTION } from '../shared/city.ts'
import { LOOPBACK, onFreePort } from '../../tools/web/loopback.ts'
import type { PageFile } from './bundle.ts'
import { PAGE_PATH, pagePlugin } from './page-plugin.ts'

export interface CityServer {
  /** Address of the server; the cities are at `/cities`. */
  readonly url: string
  readonly pageUrl: string
  readonly adminUrl: string
  /** The page that makes the first superuser, for 30 minutes. Undefined: there is a superuser. */
  readonly setupUrl: string | undefined
  /** Closes the server, open connections too. The database stays open. */
  close(): Promise<void>
}

export interface CityServerOptions {
  readonly database: Database
  readonly assets: ReadonlyMap<string, PageFile>
  /** The first port to try; 0 for any. */
  readonly port: number
  /** `email:password` of a superuser, who then has this password. */
  readonly superuser?: string | undefined
  /** Runs before the server listens. */
  readonly prepare?: (server: PannierServer) => Promise<void>
}

/** CouchDB's form of open access: everybody who reaches the server is a member; the server's admins are its admins. */
const PUBLIC = { admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: [] } }

export async function serve({ database, assets, port, superuser, prepare }: CityServerOptions): Promise<CityServer> {
  const server = await createServer({
    database,
    logger: false,
    http: { plugins: [pagePlugin(assets)] },
    ...(superuser && { superuser }),
  })
  await openToAll(server)
  try {
    await prepare?.(server)
  } catch (error) {
    await server.close()
    throw error
  }
  const listening = await server.listen({ host: LOOPBACK, port: await onFreePort(port, probe) })
  const url = `http://localhost:${new URL(listening).port}`
  const secret = await server.backend.accounts.firstSuperuser.offer()
  const setupUrl = secret && `${url}/_/#/setup/${secret}`
  return { url, pageUrl: url + PAGE_PATH, adminUrl: `${url}/_/`, setupUrl, close: () => server.close() }
}

/** Opens the cities to all. Keeps what an admin has set since. */
export async function openToAll({ gateway }: PannierServer): Promise<void> {
  if ((await (await gateway.collection(SYSTEM, COLLECTION)).security()) !== undefined) return
  await (await gateway.administration(SYSTEM, COLLECTION)).setSecurity(PUBLIC)
}

/** Returns this port if nobody listens there. */
export function probe(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socketServer = createSocketServer()
    socketServer.once('error', reject)
    socketServer.listen(port, LOOPBACK, () => socketServer.close(() => resolve(port)))
  })
}
