/** `npm start -- --servers 3`: a PostgreSQL in a temporary folder, servers on it in processes of their own, and a balancer before them. */
import { createServer } from '@pannier/server'
import type { PannierServer } from '@pannier/server'
import { postgres, type PostgresStorage } from '@pannier/postgres'
import { Balancer } from '../../tools/balancer.ts'
import { spawnTracked, stop } from '../../tools/processes.ts'
import { findPostgres, PostgresServer } from '../../tools/test/postgres.ts'
import { onFreePort } from '../../tools/web/loopback.ts'
import { PAGE_PATH } from './page-plugin.ts'
import { openToAll, probe, type CityServer } from './server.ts'

/** The name that servers give their database. */
export const DATABASE = 'app'
const NODE = ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning']
const START_MS_MAX = 120_000

export interface ServersOptions {
  readonly count: number
  readonly port: number
  /** `email:password` of a superuser. */
  readonly superuser: string | undefined
  /** Prepares the database before the servers start. */
  readonly prepare: (server: PannierServer, storage: PostgresStorage) => Promise<void>
}

/** The processes by their ids, for anyone who wants to kill one. */
export interface CityServers extends CityServer {
  readonly processes: readonly number[]
}

/** @throws Error where Debian's PostgreSQL is not installed */
export async function serveSeveral({ count, port, superuser, prepare }: ServersOptions): Promise<CityServers> {
  if (findPostgres() === undefined)
    throw new Error('There is no PostgreSQL here. Debian has it: apt-get install postgresql')
  const server = await PostgresServer.start()
  const url = server.make(DATABASE)
  const storage = postgres(url)
  const first = await createServer({
    storage: { storage, name: DATABASE },
    logger: false,
    ...(superuser && { superuser }),
  })
  await prepare(first, storage)
  await openToAll(first)
  await first.close()
  const script = new URL('one-server.ts', import.meta.url).pathname
  const children = Array.from({ length: count }, () =>
    spawnTracked(process.execPath, [...NODE, script, url], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const ports = await Promise.all(
    children.map(
      (child) =>
        new Promise<number>((resolve, reject) => {
          setTimeout(() => reject(new Error('A server does not start.')), START_MS_MAX).unref()
          child.once('exit', () => reject(new Error('A server has ended.')))
          child.stdout!.once('data', (line: Buffer) => resolve(Number(line.toString())))
        }),
    ),
  )
  const balancer = await Balancer.start(ports, await onFreePort(port, probe))
  const { url: at } = balancer
  return {
    url: at,
    pageUrl: at + PAGE_PATH,
    adminUrl: `${at}/_/`,
    setupUrl: undefined,
    processes: children.map(({ pid }) => pid!),
    close: async () => {
      await balancer[Symbol.asyncDispose]()
      for (const child of children) await stop(child)
      await server[Symbol.asyncDispose]()
    },
  }
}
